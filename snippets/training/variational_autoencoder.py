"""Train a variational autoencoder on small images, then draw new ones."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
data = torch.tensor(load_digits().data / 16, dtype=torch.float32)  # in [0, 1]
D, H, Z = 64, 64, 8  # pixels, hidden units, latent dimensions
encoder = nn.Sequential(nn.Linear(D, H), nn.ReLU(), nn.Linear(H, 2 * Z))
decoder = nn.Sequential(nn.Linear(Z, H), nn.ReLU(), nn.Linear(H, D))
both = nn.ModuleList([encoder, decoder])
optimizer = torch.optim.Adam(both.parameters(), lr=1e-2)
for _ in range(6):
    for x in data[torch.randperm(len(data))].split(60):  # (B, D)
        mu, logvar = encoder(x).chunk(2, dim=1)  # (B, Z) each
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        logits = decoder(z)  # (B, D), without a sigmoid
        rec = F.binary_cross_entropy_with_logits(logits, x, reduction="none")
        kl = -0.5 * (1 + logvar - mu.square() - logvar.exp())
        loss = (rec.sum(1) + kl.sum(1)).mean()  # sums, then the batch mean
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
new = decoder(torch.randn(16, Z)).sigmoid()  # 16 new images
assert kl.sum(1).mean() > 0.5  # nats: the code is used
