"""Compare the norms: over which axes each one takes mean and variance."""

import torch
from torch import nn

images = torch.randn(8, 32, 14, 14)  # (N, C, H, W)
tokens = torch.randn(8, 20, 64)  # (N, T, D)

bn = nn.BatchNorm2d(32)  # CNN with 32 channels, large batch
gn = nn.GroupNorm(8, 32)  # CNN, small batch: 8 groups of 4 channels
ln = nn.LayerNorm(64)  # transformer: the last axis, of 64
rms = nn.RMSNorm(64, eps=1e-6)  # language model: no mean, no bias
inorm = nn.InstanceNorm2d(32, affine=True)  # style transfer

y = bn(images).transpose(0, 1)  # each channel, over N, H, W
print("BatchNorm   ", tuple(y.flatten(1).std(1).shape), "statistics")
groups = gn(images).view(8, 8, -1)  # each sample and group
print("GroupNorm   ", tuple(groups.std(2).shape), "statistics")
maps = inorm(images).flatten(2)  # each sample and channel
print("InstanceNorm", tuple(maps.std(2).shape), "statistics")
print("LayerNorm   ", tuple(ln(tokens).std(2).shape), "statistics")
print("RMSNorm     ", tuple(rms(tokens).square().mean(2).shape), "statistics")
