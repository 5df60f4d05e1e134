"""Join two feature maps that differ by one, since an odd size was halved."""

import torch
from torch.nn import functional as F

torch.manual_seed(0)
skip = torch.randn(2, 8, 57, 57)  # (B, C, H, W), before the downsampling
up = F.interpolate(F.max_pool2d(skip, 2), scale_factor=2)  # 57 -> 28 -> 56
try:
    torch.cat([skip, up], dim=1)
except RuntimeError as error:
    print("error:", error)

print([*skip.shape], [*up.shape])  # equal except in dim
up = F.interpolate(up, size=skip.shape[2:])  # (B, C, 57, 57)
both = torch.cat([skip, up], dim=1)  # (B, 2C, 57, 57)

assert torch.equal(both[:, :8], skip)
