"""See the windows of adaptive pooling: some overlap if 3 does not divide."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap
from torch import nn
from torch.nn import functional as F

pool = nn.AdaptiveAvgPool1d(3)

cells = ListedColormap(["none", "#8a8a8a50", "#3b82d6"])
cell = F.pad(torch.ones(7, 7), (1, 0, 1, 0))  # with a gap
fig, axes = plt.subplots(1, 3, figsize=(4.8, 1.2), width_ratios=[6, 7, 8])
for ax, n in zip(axes, (6, 7, 8), strict=True):
    weights = pool(torch.eye(n))  # (input, output): of each alone
    table = torch.kron((weights > 0) + 1, cell).T.numpy()
    ax.imshow(table, cmap=cells, extent=(-0.5, n - 0.5, 2.5, -0.5))
    ax.set(title=f"{n} → 3", xticks=[0, n - 1], yticks=[])
axes[0].set(ylabel="output", yticks=[0, 2], xlabel="input")
fig.savefig("show_pooling.svg")
assert torch.allclose(weights.sum(0), torch.ones(3))  # each is a mean
