"""See which rows index_add adds up."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

group = torch.tensor([0, 2, 0, 1, 2])  # (N,)
x = torch.tensor([[1, 8], [5, 2], [3, 4], [7, 6], [1, 9]])  # (N, D)
total = torch.zeros(4, 2, dtype=torch.long).index_add(0, group, x)  # (G, D)

tables = {"group": group[:, None], "x": x, "total": total}
colours = {"group": group, "x": group, "total": torch.arange(4)}
cells = ListedColormap(["#3b82d690", "#d4652a90", "#2f9e5890", "none"])
fig, axes = plt.subplots(1, 3, figsize=(3.4, 2.1), width_ratios=[1, 2, 2])
for ax, (title, values) in zip(axes, tables.items(), strict=True):
    colour = colours[title][:, None].expand_as(values)
    ax.pcolormesh(colour, cmap=cells, vmin=0, vmax=3, edgecolors="gray")
    for row, column in torch.ones_like(values).nonzero().tolist():
        value = values[row, column].item()
        ax.text(column + 0.5, row + 0.5, value, ha="center", va="center")
    ax.set(title=title, ylim=(5, 0), aspect="equal")
    ax.axis("off")
fig.savefig("show_index_add.svg")
assert total.sum() == x.sum()
