"""See what a mask keeps: where keeps the shape, x[mask] does not."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

x = torch.tensor([[1, -2, 3, 8], [-4, 5, 9, 2]])  # (N, D)
mask = (x > 0) & (x < 6)  # (N, D)
kept, values = torch.where(mask, x, 0), x[mask]  # (N, D), (K,)

tables = {"x": (x, mask), "torch.where(mask, x, 0)": (kept, mask)}
tables["x[mask]"] = values[None], mask[mask][None]
cells = ListedColormap(["none", "#3b82d690"])
fig, axes = plt.subplots(1, 3, figsize=(4.8, 1.2))
for ax, (title, (numbers, marked)) in zip(axes, tables.items(), strict=True):
    ax.pcolormesh(marked, cmap=cells, vmin=0, vmax=1, edgecolors="gray")
    for row, column in torch.ones_like(numbers).nonzero().tolist():
        number = numbers[row, column].item()
        ax.text(column + 0.5, row + 0.5, number, ha="center", va="center")
    ax.set(title=title, ylim=(2, 0), aspect="equal")
    ax.axis("off")
fig.savefig("show_where.svg")
assert kept.shape == x.shape
assert values.shape == (4,)
