"""See which elements a sum adds: those of one colour."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

x = torch.tensor([[1.0, 2, 3], [4, 5, 6]])  # (B, C)
cells = ListedColormap(["#3b82d690", "#d4652a90", "#2f9e5890"])
fig, axes = plt.subplots(1, 2, figsize=(4.2, 1.7), sharex=True, sharey=True)
for dim, ax in enumerate(axes):
    total = x.sum(dim=dim, keepdim=True)
    colour = torch.arange(total.numel()).view_as(total)
    at = [(2.4, 0), (0, 3.4)][dim]  # below, or to the right
    for values, (top, left) in ((x, (0, 0)), (total, at)):
        rows, columns = ([i + n for n in range(5)] for i in (top, left))
        H, W = values.shape
        drawn = columns[: W + 1], rows[: H + 1], colour.expand(H, W)
        ax.pcolormesh(*drawn, cmap=cells, vmin=0, vmax=2, edgecolors="gray")
        for i, j in torch.ones(H, W).nonzero().tolist():
            place = columns[j] + 0.5, rows[i] + 0.5
            ax.text(*place, int(values[i, j]), ha="center", va="center")
    ax.set(title=f"x.sum(dim={dim})", ylim=(3.5, -0.1), aspect="equal")
    ax.axis("off")
fig.savefig("show_dims.svg")
assert total.flatten().tolist() == [6, 15]
