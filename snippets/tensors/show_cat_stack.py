"""See where cat and stack put three tensors."""

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.colors import ListedColormap

a, b, c = (torch.full((2, 3), number) for number in range(3))  # (2, 3) each
rows = torch.cat([a, b, c])  # (6, 3)
columns = torch.cat([a, b, c], dim=1)  # (2, 9)
batch = torch.stack([a, b, c])  # (3, 2, 3)

layers = {"cat: (6, 3)": [rows], "cat, dim=1: (2, 9)": [columns]}
layers["stack: (3, 2, 3)"] = batch
colours = ListedColormap(["#3b82d6", "#d4652a", "#2f9e58"])
fig, axes = plt.subplots(1, 3, figsize=(4.8, 1.6), width_ratios=[3, 6, 4])
for ax, (title, tables) in zip(axes, layers.items(), strict=True):
    for depth in reversed(range(len(tables))):  # the first in front
        table = tables[depth].flip(0).numpy()  # the first row on top
        y, x = (np.arange(n + 1) + 0.6 * depth for n in table.shape)
        ax.pcolormesh(x, y, table, cmap=colours, vmin=0, vmax=2, ec="w")
    ax.set(title=title, aspect="equal")
    ax.axis("off")
fig.savefig("show_cat_stack.svg")
assert torch.equal(batch.flatten(0, 1), rows)
