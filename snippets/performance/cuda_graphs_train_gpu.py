"""Train with the forward and the backward of a model in CUDA graphs."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(16, 4), nn.Sigmoid()).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 16, device="cuda"), torch.rand(8, 4, device="cuda")

sample = torch.randn(8, 16, device="cuda")  # the shape of every batch
model = torch.cuda.make_graphed_callables(model, (sample,))
losses = []
for _ in range(20):  # the usual loop
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.detach())
assert losses[-1] < losses[0]
