"""See how split, chunk and tensor_split cut ten rows."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

rows = torch.arange(10)  # (N,)
cuts = {"split(4)": rows.split(4), "split([5, 3, 2])": rows.split([5, 3, 2])}
cuts |= {"chunk(4)": rows.chunk(4), "tensor_split(4)": rows.tensor_split(4)}

colours = ["none", "#3b82d6", "#d4652a", "#2f9e58", "#a266d4"]
cell = torch.nn.functional.pad(torch.ones(6, 11), (1, 0, 2, 0))  # with gaps
table = torch.zeros(4, 10)
for row, pieces in zip(table, cuts.values(), strict=True):
    for number, piece in enumerate(pieces, 1):
        row[piece] = number
fig, ax = plt.subplots(figsize=(4.8, 1.6))
picture = torch.kron(table, cell).numpy()
ax.imshow(picture, cmap=ListedColormap(colours), extent=(0, 10, 4, 0))
ax.set(xticks=[], yticks=[i + 0.6 for i in range(4)], yticklabels=cuts)
ax.tick_params(length=0)
ax.spines[:].set_visible(False)
fig.savefig("show_splits.svg")
assert table.amax(1).tolist() == [3, 3, 4, 4]
