"""See a letter enlarged, and fine rings made smaller, in several modes."""

import matplotlib.pyplot as plt
import torch
from torch.nn.functional import interpolate

letter = torch.zeros(1, 1, 7, 6)  # (N, C, H, W)
letter[..., 1:6, 1] = letter[..., 1, 1:5] = letter[..., 3, 1:4] = 1  # an F
rings = torch.arange(62.0) ** 2
rings = torch.cos((rings[:, None] + rings) / 40)[None, None] / 2 + 0.5

modes = ["nearest-exact", "bilinear", "bicubic"]
large = [interpolate(letter, scale_factor=4, mode=mode) for mode in modes]
small = [interpolate(rings, size=20, mode=mode) for mode in modes[:2]]
small += [interpolate(rings, size=20, mode="bilinear", antialias=True)]

images = [letter, *large, rings, *small]
titles = ["input", *modes, "input", *modes[:2], "antialias"]
fig, axes = plt.subplots(2, 4, figsize=(4.8, 2.8))
for ax, image, title in zip(axes.flat, images, titles, strict=True):
    grey = plt.get_cmap("gray", 10)
    ax.imshow(image[0, 0].numpy(), cmap=grey, vmin=0, vmax=1)
    ax.set(title=title, xticks=[], yticks=[], frame_on=False)
fig.savefig("show_modes.svg")
assert small[0].std() > 2 * small[2].std()  # rings that are not there
