"""See what a blur and the Sobel filters make of an image."""

import matplotlib.pyplot as plt
import torch
from torch.nn import functional as F
from torchvision.transforms.v2 import functional as TF

y, x = torch.meshgrid(torch.arange(24), torch.arange(24), indexing="ij")
image = ((x - 9) ** 2 + (y - 9) ** 2 < 45).float()[None, None]  # a disc
image[..., 15:21, 12:21] = 0.6  # a box
blurred = TF.gaussian_blur(image, kernel_size=[9, 9], sigma=[2.0, 2.0])
kernel = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]])[None, None]
padded = F.pad(image, (1, 1, 1, 1), mode="reflect")
dx, dy = F.conv2d(padded, kernel), F.conv2d(padded, kernel.mT)
edges = (dx**2 + dy**2).sqrt()

shown = {"image": image, "blurred": blurred, "dx": dx, "dy": dy}
shown["edges"] = edges
fig, axes = plt.subplots(1, 5, figsize=(4.8, 1.2))
for ax, (title, result) in zip(axes, shown.items(), strict=True):
    lowest = -4 if title in ("dx", "dy") else 0  # grey is 0 there
    ax.imshow(result[0, 0].numpy(), cmap="gray", vmin=lowest)
    ax.set(title=title, xticks=[], yticks=[], frame_on=False)
fig.savefig("show_filters.svg")
assert not edges[..., 9, 9].any()  # inside the disc
