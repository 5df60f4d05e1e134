"""See which elements make one element of a matrix product."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

a = torch.tensor([[1.0, 2, 3], [4, 5, 6]]).requires_grad_()  # (T, N)
b = torch.tensor([[1.0, 3, 2, 4], [2, 1, 1, 3], [3, 2, 5, 1]]).requires_grad_()
c = a @ b  # (T, M)
c.retain_grad()
c[1, 2].backward()  # a gradient reaches what it is made of

cells = ListedColormap(["none", "#3b82d690"])
sizes = {"width_ratios": [3, 4], "height_ratios": [3, 2]}
fig, axes = plt.subplot_mosaic(".b;ac", figsize=(3.4, 2.6), gridspec_kw=sizes)
for name, values in {"a": a, "b": b, "c": c}.items():
    marked, ax = values.grad != 0, axes[name]
    ax.pcolormesh(marked, cmap=cells, vmin=0, vmax=1, edgecolors="gray")
    for i, j in torch.ones_like(values).nonzero().tolist():
        number = f"{values[i, j]:.0f}"
        ax.text(j + 0.5, i + 0.5, number, ha="center", va="center")
    ax.set(title=name, ylim=(len(values), 0), aspect="equal")
    ax.axis("off")
fig.savefig("show_matmul.svg")
assert c[1, 2] == a[1] @ b[:, 2]
