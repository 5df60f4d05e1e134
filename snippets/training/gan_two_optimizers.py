"""Train a GAN: one step of the discriminator, one of the generator."""

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce

torch.manual_seed(0)
Z, device = 4, torch.device("cpu")  # numbers of noise; yours: "cuda"
G = nn.Sequential(nn.Linear(Z, 32), nn.ReLU(), nn.Linear(32, 1)).to(device)
D = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 1)).to(device)
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
batches = 4 + torch.randn(500, 64, 1)  # of N(4, 1); a label is not needed
loader = [(real, None) for real in batches]

for real, _ in loader:  # one epoch; without labels: for real in loader
    real = real.to(device)
    fake = G(torch.randn(len(real), Z, device=device))
    yes, no = D(real), D(fake.detach())  # logits: no sigmoid in D
    loss_d = bce(yes, torch.ones_like(yes)) + bce(no, torch.zeros_like(no))
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    logits = D(fake)  # of the new D, and not detached
    loss_g = bce(logits, torch.ones_like(logits))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()

fake = G(torch.randn(1000, Z, device=device))
print(f"generated: mean {fake.mean():.0f}, std {fake.std():.0f}")
