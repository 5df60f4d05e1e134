"""Draw what a generator makes while it learns N(4, 1)."""

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
D = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 1))
opt_g = torch.optim.Adam(G.parameters(), 2e-3, (0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), 2e-3, (0.5, 0.999))
one, edges = torch.ones(64, 1), torch.linspace(-3, 11, 36)
fig, axes = plt.subplots(1, 3, figsize=(4.8, 1.6))
panels = dict(zip((0, 150, 500), axes, strict=True))
for step in range(501):
    if ax := panels.get(step):
        made = G(torch.randn(4000, 4)).detach()
        for x in (4 + torch.randn(4000, 1), made):
            ax.stairs(x.histc(35, -3, 11), edges)
        ax.set(title=f"step {step}", yticks=[], ylim=(0, 1200))
    real, fake = 4 + torch.randn(64, 1), G(torch.randn(64, 4))
    opt_d.zero_grad()
    (bce(D(real), one) + bce(D(fake.detach()), 0 * one)).backward()
    opt_d.step()
    opt_g.zero_grad()
    bce(D(fake), one).backward()
    opt_g.step()
fig.savefig("plot_gan.svg")
assert abs(made.mean() - 4) < 1
