"""See which element of each row gather picks."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

x = torch.arange(12).reshape(3, 4)  # (B, C)
idx = torch.tensor([[2, 0], [1, 1], [0, 3]])  # (B, K)
picked = x.gather(1, idx)  # (B, K)

colour = torch.tensor([[1], [2], [3]]).expand(3, 2)  # one for each row
places = torch.zeros_like(x).scatter(1, idx, colour)
tables = {"x": (x, places), "idx": (idx, 0 * idx)}
tables["x.gather(1, idx)"] = picked, colour
cells = ListedColormap(["none", "#3b82d690", "#d4652a90", "#2f9e5890"])
fig, axes = plt.subplots(1, 3, figsize=(4.8, 1.6), width_ratios=[4, 2, 2])
for ax, (title, (values, colours)) in zip(axes, tables.items(), strict=True):
    ax.pcolormesh(colours, cmap=cells, vmin=0, vmax=3, edgecolors="gray")
    for row, column in torch.ones_like(values).nonzero().tolist():
        value = values[row, column].item()
        ax.text(column + 0.5, row + 0.5, value, ha="center", va="center")
    ax.set(title=title, ylim=(3, 0), aspect="equal")
    ax.axis("off")
fig.savefig("show_gather.svg")
assert picked.shape == idx.shape
