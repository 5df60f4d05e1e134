"""Draw the line that each loss fits when 3 of 24 targets are wrong."""

import matplotlib.pyplot as plt
import torch
from torch import nn

torch.manual_seed(0)
x = torch.linspace(0, 1, 24)[:, None]  # (N, 1)
y = 1 + 2 * x[:, 0] + 0.1 * torch.randn(24)  # (N,)
y[-3:] -= 3  # wrong
fig, ax = plt.subplots(figsize=(4.8, 2.4))
ax.plot(x, y, "k.")
for loss_fn in (nn.MSELoss(), nn.HuberLoss(delta=0.3), nn.L1Loss()):
    model = nn.Linear(1, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(800):
        optimizer.zero_grad()
        loss_fn(model(x).squeeze(1), y).backward()
        optimizer.step()
    ends = model(x[[0, -1]]).detach()
    ax.plot(x[[0, -1]], ends, label=type(loss_fn).__name__)
ax.legend(loc="lower left")
fig.savefig("plot_outliers.svg")
assert 2.6 < ends[1] < 3.4  # L1Loss; 3 is right
