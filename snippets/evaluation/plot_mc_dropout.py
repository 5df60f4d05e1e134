"""Draw how the passes differ where there was no training data."""

import matplotlib.pyplot as plt
import torch
from torch import nn

torch.manual_seed(0)
at = torch.cat([torch.rand(20) - 2, torch.rand(20) + 0.5])[:, None]
y_at = at.mul(2).sin() + 0.05 * torch.randn(40, 1)
layers = [nn.Linear(1, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU()]
net = nn.Sequential(*layers, nn.Dropout(0.2), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(300):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(at), y_at).backward()
    optimizer.step()
grid = torch.linspace(-4, 4, 41)[:, None]
with torch.no_grad():  # in train mode: dropout is on
    passes = torch.stack([net(grid) for _ in range(100)])[..., 0]
mean, std = passes.mean(0), passes.std(0)
fig, ax = plt.subplots(figsize=(4.8, 2.4))
ax.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, alpha=0.3)
ax.plot(grid[:, 0], mean, at, y_at, "k.")
fig.savefig("plot_mc_dropout.svg")
assert std[[0, -1]].max() > std[13]  # x = -1.4: amid the training data
