"""Resize batches, masks and single images; the size is (height, width)."""

import torch
from torch.nn import functional as F

size = (16, 32)  # (height, width)
x = (torch.arange(96) % 2 * 255.0).expand(2, 3, 48, 96)  # (N, C, H, W)
mask = (torch.arange(48 * 96) % 5 * 7).view(1, 48, 96)  # (N, H, W)

small = F.interpolate(x, size=size, mode="bilinear", antialias=True)
classes = F.interpolate(mask[:, None].float(), size=size, mode="nearest-exact")
classes = classes[:, 0].long()  # (N, height, width)

large = F.interpolate(x, scale_factor=2, mode="bilinear")
image = x[0]  # (C, H, W): add the batch dimension, take it off again
one = F.interpolate(image[None], size=(60, 120), mode="bilinear")[0]

jagged = F.interpolate(x, size=size, mode="bilinear")
print("large", tuple(large.shape), "one image", tuple(one.shape))
print(f"small: {small.min():.0f} to {small.max():.0f}")
print(f"without antialias: {jagged.min():.0f} to {jagged.max():.0f}")
print("classes of the mask", classes.unique().tolist())
