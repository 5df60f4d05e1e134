"""A volume from slices, through Conv3d, and back to its size."""

import torch
from torch import nn
from torch.nn import functional as F

slices = [torch.rand(64, 64) for _ in range(25)]  # D tensors (H, W), in order

volume = torch.stack(slices)[None, None]  # (N, C, D, H, W), with N = C = 1
conv = nn.Conv3d(1, 16, kernel_size=3, stride=2, padding=1)  # halves D, H, W
features = conv(volume)  # (N, 16, D', H', W')
same_size = F.interpolate(features, size=volume.shape[2:], mode="trilinear")

for x in (volume, features, same_size):
    print(*x.shape)
