"""See what (N, 1) minus (N,) gives: every prediction minus every label."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

y = torch.tensor([1.0, 2, 3, 4])  # (N,)
pred = y[:, None]  # (N, 1): each prediction is right

tables = {"y: (4,)": y[None], "pred.squeeze(1) - y": pred.squeeze(1)[None] - y}
tables |= {"pred: (4, 1)": pred, "pred - y: (4, 4)": pred - y}
cells = ListedColormap(["none", "#d4652a90"])
fig, axes = plt.subplots(2, 2, figsize=(4, 2.7), height_ratios=[1, 4])
for ax, (title, values) in zip(axes.flat, tables.items(), strict=True):
    wrong = (values != 0) & ("-" in title)
    ax.pcolormesh(wrong, cmap=cells, vmin=0, vmax=1, edgecolors="gray")
    for row, column in torch.ones_like(values).nonzero().tolist():
        value = int(values[row, column])
        ax.text(column + 0.5, row + 0.5, value, ha="center", va="center")
    ax.set(title=title, ylim=(len(values), 0), aspect="equal")
    ax.axis("off")
fig.savefig("show_broadcast.svg")
assert (pred - y).shape == (4, 4)
