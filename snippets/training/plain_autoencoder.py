"""Train a plain autoencoder: a small code that the input is rebuilt from."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
data = torch.tensor(load_digits().data / 16, dtype=torch.float32)
compress = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))
rebuild = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64))
model = nn.Sequential(compress, rebuild)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(6):
    for x in data[torch.randperm(len(data))].split(60):
        loss = F.mse_loss(model(x), x)  # the target is the input
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
codes = compress(data).detach()  # (N, 8): features for search or clustering
print(f"rebuilt: error {loss:.3f}; the mean image: {data.var(0).mean():.3f}")
