"""Look at the masks: × where a query must not see a key."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

words = ["the", "cat", "sat", "<pad>", "<pad>"]
text = torch.tensor([[5, 2, 7, 0, 0]])  # (N, T), 0 is padding
N, T = text.shape
padding = text == 0  # (N, T)
future = torch.ones(T, T, dtype=torch.bool).triu(1)  # (query, key)
masks = {"future": future, "padding": padding.expand(T, T)}
masks["both"] = future | padding
cells = ListedColormap(["none", "#3b82d6"])
cell = torch.nn.functional.pad(torch.ones(7, 7), (1, 0, 1, 0))  # a gap
fig, axes = plt.subplots(1, 3, sharey=True, figsize=(4.8, 2.3))
for ax, (title, mask) in zip(axes, masks.items(), strict=True):
    seen = torch.kron((~mask).float(), cell).numpy()
    ax.imshow(seen, cmap=cells, extent=(-0.5, T - 0.5, T - 0.5, -0.5))
    ax.plot(*mask.nonzero().flip(1).T, "x", color="black")  # key, query
    ax.set_xticks(range(T), words, rotation=90)
    ax.set(title=title, xlabel="key", yticks=range(T), yticklabels=words)
axes[0].set(ylabel="query")
fig.savefig("show_masks.svg")
assert not masks["both"].all(1).any()  # every query sees a key
