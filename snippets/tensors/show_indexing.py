"""See which elements an index takes."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

x = torch.zeros(4, 5)
indices = {"x[1]": 1, "x[:, 1]": (slice(None), 1)}
indices["x[1:3, ::2]"] = slice(1, 3), slice(None, None, 2)
indices["x[[0, 2], [1, 3]]"] = [0, 2], [1, 3]

cells = ListedColormap(["none", "#8a8a8a50", "#3b82d6"])
cell = torch.nn.functional.pad(torch.ones(7, 7), (1, 0, 1, 0))  # a gap
fig, axes = plt.subplots(1, 4, figsize=(4.8, 1.3))
for ax, (title, index) in zip(axes, indices.items(), strict=True):
    taken = torch.ones_like(x)
    taken[index] = 2
    ax.imshow(torch.kron(taken, cell).numpy(), cmap=cells)
    ax.set_title(title, fontsize=9)
    ax.axis("off")
fig.savefig("show_indexing.svg")
assert x[[0, 2], [1, 3]].shape == (2,)  # pairs, not a block
