"""See the two grids of meshgrid, and the pairs they make."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

H, W = 2, 3
rows, columns = torch.meshgrid(torch.arange(H), torch.arange(W), indexing="ij")
pairs = torch.stack([columns, rows], dim=-1)  # (H, W, 2): x, y

cells = ListedColormap(["none", "#3b82d660", "#3b82d6b0"])
fig, axes = plt.subplots(1, 3, figsize=(4.8, 1.3))
grids = {"rows": rows, "columns": columns, "pairs (x, y)": pairs}
for ax, (title, grid) in zip(axes, grids.items(), strict=True):
    shown = grid if grid.ndim == 2 else torch.zeros(H, W)
    ax.pcolormesh(shown, cmap=cells, vmin=0, vmax=2, edgecolors="gray")
    for i in range(H):
        for j in range(W):
            label = str(grid[i, j].tolist()).strip("[]").replace(" ", "")
            ax.text(j + 0.5, i + 0.5, label, ha="center", va="center")
    ax.set(title=title, ylim=(H, 0), aspect="equal")
    ax.axis("off")
fig.savefig("show_meshgrid.svg")
assert pairs[1, 2].tolist() == [2, 1]
