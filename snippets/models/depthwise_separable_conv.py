"""Replace a convolution by a depthwise separable one, with fewer weights."""

import torch
from torch import nn

x = torch.rand(2, 64, 32, 32)  # (N, C, H, W)
full = nn.Conv2d(64, 128, 3, padding=1, bias=False)

depthwise = nn.Conv2d(64, 64, 3, padding=1, groups=64, bias=False)
pointwise = nn.Conv2d(64, 128, kernel_size=1, bias=False)
separable = nn.Sequential(depthwise, pointwise)

grouped = nn.Conv2d(64, 128, 3, padding=1, groups=4, bias=False)
dilated = nn.Conv2d(64, 128, 3, padding=2, dilation=2, bias=False)  # 5x5

convs = {"full": full, "separable": separable, "4 groups": grouped}
for name, conv in {**convs, "dilated": dilated}.items():
    assert conv(x).shape == (2, 128, 32, 32)
    weights = sum(p.numel() for p in conv.parameters())
    print(f"{name:9} {weights:>6,} weights")
