"""See which pixels each output of a convolution reads: kernel 3, 7 pixels."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap
from torch.nn import functional as F

pixels, kernel = torch.eye(7)[:, None], torch.ones(1, 1, 3)  # each pixel alone
settings = {"stride=1": {}, "stride=2": {"stride": 2}}
settings |= {"padding=1": {"padding": 1}, "dilation=2": {"dilation": 2}}

cells = ListedColormap(["none", "#8a8a8a50", "#3b82d6"])
cell = F.pad(torch.ones(7, 7), (1, 0, 1, 0))  # with a gap
fig, axes = plt.subplots(1, 4, figsize=(4.8, 1.7), sharex=True, sharey=True)
for ax, (title, options) in zip(axes, settings.items(), strict=True):
    reads = F.conv1d(pixels, kernel, **options)[:, 0]  # (pixel, output)
    n = reads.shape[1]
    table = torch.kron(reads + 1, cell).T.numpy()
    ax.imshow(table, cmap=cells, extent=(-0.5, 6.5, n - 0.5, -0.5))
    ax.set(title=f"{title}\n7 → {n}", xticks=[0, 6], ylim=(6.5, -0.5))
axes[0].set(xlabel="pixel", ylabel="output", yticks=[0, 6])
fig.savefig("show_conv_sizes.svg")
assert n == 3  # with dilation=2
