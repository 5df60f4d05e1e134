"""See what triangles, blocks and Kronecker products make of matrices."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

M, N = torch.ones(3, 3), torch.full((2, 2), 2)
C, D = torch.tensor([[1, 2], [2, 1]]), torch.eye(2)
results = {"M.tril()": M.tril(), "M.triu(1)": M.triu(1)}
results["block_diag(M, N)"] = torch.block_diag(M, N)
results["kron(C, D)"] = torch.kron(C, D)

cells = ListedColormap(["none", "#8a8a8a50", "#3b82d6", "#d4652a"])
cell = torch.nn.functional.pad(torch.ones(7, 7), (1, 0, 1, 0))  # a gap
fig, axes = plt.subplots(1, 4, figsize=(4.8, 1.4))
for ax, (title, result) in zip(axes, results.items(), strict=True):
    table = torch.kron(result + 1, cell).numpy()
    ax.imshow(table, cmap=cells, vmin=0, vmax=3)
    ax.set_title(title, fontsize=9)
    ax.axis("off")
fig.savefig("show_triangles.svg")
assert results["kron(C, D)"].diagonal().tolist() == [1, 1, 1, 1]
