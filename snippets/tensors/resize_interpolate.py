"""Resize batches, single images and masks; the size is (height, width)."""

import torch
from torch.nn import functional as F

x = (torch.arange(96) % 2 * 255.0).expand(2, 3, 48, 96)  # (N, C, H, W)
small = F.interpolate(x, size=(16, 32), mode="bilinear", antialias=True)
large = F.interpolate(x, scale_factor=2, mode="bilinear")

image = x[0]  # (C, H, W): add the batch dimension, take it off again
one = F.interpolate(image[None], size=(60, 120), mode="bilinear")[0]

mask = torch.arange(48 * 96).view(48, 96) % 5 * 7  # (H, W): class numbers
mask4 = mask[None, None].float()  # (1, 1, H, W)
mask = F.interpolate(mask4, size=(16, 32), mode="nearest-exact")[0, 0].long()

jagged = F.interpolate(x, size=(16, 32), mode="bilinear")
print("large", tuple(large.shape), "one image", tuple(one.shape))
print(f"small: {small.min():.0f} to {small.max():.0f}")
print(f"without antialias: {jagged.min():.0f} to {jagged.max():.0f}")
print("classes of the mask", mask.unique().tolist())
