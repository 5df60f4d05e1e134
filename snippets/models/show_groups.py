"""See which channels each output channel of a convolution reads."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap
from torch import nn

cells = ListedColormap(["none", "#8a8a8a50", "#3b82d6"])
cell = nn.functional.pad(torch.ones(7, 7), (1, 0, 1, 0))  # with a gap
fig, axes = plt.subplots(1, 3, figsize=(4.8, 2.2), sharex=True, sharey=True)
for ax, groups in zip(axes, (1, 2, 8), strict=True):
    conv = nn.Conv2d(8, 8, 3, padding=1, groups=groups, bias=False)
    nn.init.ones_(conv.weight)
    channels = torch.eye(8)[..., None, None]  # each alone, one pixel
    reads = conv(channels).detach().flatten(1)  # (input, output)
    table = torch.kron(reads + 1, cell).T.numpy()
    ax.imshow(table, cmap=cells, extent=(-0.5, 7.5, 7.5, -0.5))
    weights = conv.weight.numel()
    ax.set(title=f"groups={groups}\n{weights} weights", xticks=[0, 7])
axes[0].set(xlabel="input channel", ylabel="output", yticks=[0, 7])
fig.savefig("show_groups.svg")
assert weights == 72
