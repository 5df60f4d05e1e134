"""See which values share one mean with the first: what changes its output."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap
from torch import nn

torch.manual_seed(0)
x = torch.randn(3, 4, 3).double().requires_grad_()  # (N, C, L)
norms = {"BatchNorm": nn.BatchNorm1d(4), "GroupNorm": nn.GroupNorm(2, 4)}
norms |= {"InstanceNorm": nn.InstanceNorm1d(4), "LayerNorm": nn.LayerNorm(4)}
cells = ListedColormap(["none", "#8a8a8a50", "#3b82d6"])
cell = torch.nn.functional.pad(torch.ones(7, 7), (1, 0, 1, 0))  # a gap
fig, axes = plt.subplots(2, 2, figsize=(4.8, 2), sharex=True, sharey=True)
for ax, (title, norm) in zip(axes.flat, norms.items(), strict=True):
    y = norm.double()(x.mT if title == "LayerNorm" else x)
    (gradient,) = torch.autograd.grad(y[0, 0, 0], x)
    table = torch.kron((gradient != 0).flatten(1) + 1, cell).numpy()
    ax.imshow(table, cmap=cells, extent=(0, 12, 3, 0))  # C * L columns
    ax.vlines([3, 6, 9], 0, 3, "black")
    ax.set(title=title, xticks=[], yticks=[0.5, 2.5], yticklabels=[0, 2])
axes[1, 0].set(xlabel="4 channels, 3 places in each", ylabel="sample")
fig.savefig("show_norms.svg")
assert (gradient != 0).sum() == 4  # LayerNorm: one place, all channels
