"""Replace a convolution by a depthwise separable one, with fewer weights."""

import torch
from torch import nn


def separable(c_in, c_out, stride=1):
    """The block of MobileNet in place of a 3x3 convolution."""
    return nn.Sequential(
        nn.Conv2d(c_in, c_in, 3, stride, padding=1, groups=c_in, bias=False),
        nn.BatchNorm2d(c_in),
        nn.ReLU(),
        nn.Conv2d(c_in, c_out, kernel_size=1, bias=False),  # mixes channels
        nn.BatchNorm2d(c_out),
        nn.ReLU(),
    )


if __name__ == "__main__":
    x = torch.rand(2, 64, 32, 32)  # (N, C, H, W)
    full = nn.Conv2d(64, 128, 3, padding=1, bias=False)
    grouped = nn.Conv2d(64, 128, 3, padding=1, groups=4, bias=False)
    convs = {
        "full": full,
        "4 groups": grouped,
        "separable": separable(64, 128),
    }
    for name, conv in convs.items():
        assert conv(x).shape == (2, 128, 32, 32)
        weights = sum(p.numel() for p in conv.parameters() if p.ndim == 4)
        print(f"{name:9} {weights:>6,} weights")
