"""What each interpolation mode makes of an edge, smaller and larger."""

import torch
from torch.nn import functional as F

row = torch.tensor([0.0, 0, 0, 7, 7, 7, 7, 7])  # an edge, or classes 0 and 7
image = row.expand(1, 1, 8, 8)  # (N, C, H, W)
mask = image.long()  # class numbers, (N, 1, H, W)
size = (3, 3)

small = F.interpolate(image, size=size, mode="bilinear", antialias=True)
large = F.interpolate(image, scale_factor=2, mode="bilinear")
classes = F.interpolate(mask.float(), size=size, mode="nearest-exact").long()
means = F.interpolate(image, size=size, mode="area")

print("antialias", [f"{v:.1f}" for v in small[0, 0, 0]])
print("classes  ", classes[0, 0, 0].tolist(), "only 0 and 7")
print("area     ", [f"{v:.2f}" for v in means[0, 0, 0]])
print("larger   ", large[0, 0, 0, 4:8].tolist(), "new values")
cubic = F.interpolate(image, scale_factor=2, mode="bicubic")
print("bicubic  ", f"{cubic.min():.1f} to {cubic.max():.1f}, not 0 to 7")
corners = F.interpolate(row[None, None], 15, mode="linear", align_corners=True)
assert torch.allclose(corners[0, 0, ::2], row)  # True: old pixels are kept
