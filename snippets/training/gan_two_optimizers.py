"""Train a GAN: one step of the discriminator, one of the generator."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
D = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 1))  # logits
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
for _ in range(500):
    real = 4 + torch.randn(64, 1)  # a batch of your loader
    z = torch.randn(len(real), 4)
    # Cross entropy of logit a: softplus(-a) for label 1, softplus(a) for 0.
    loss_d = F.softplus(-D(real)) + F.softplus(D(G(z).detach()))
    opt_d.zero_grad()
    loss_d.mean().backward()
    opt_d.step()
    loss_g = F.softplus(-D(G(z)))
    opt_g.zero_grad()
    loss_g.mean().backward()
    opt_g.step()
fake = G(torch.randn(1000, 4))
print(f"generated: mean {fake.mean():.0f}, std {fake.std():.0f}")
