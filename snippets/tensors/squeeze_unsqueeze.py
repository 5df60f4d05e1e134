"""Add dimensions of size 1, and remove the one you name."""

import torch

image = torch.rand(3, 32, 32)  # (C, H, W)
labels = torch.rand(8)  # (B,)

batch = image.unsqueeze(0)  # (1, C, H, W); the same: image[None]
column = labels.unsqueeze(1)  # (B, 1); or -1: a new last one
scores = column.squeeze(1)  # (B,): names the dimension

vectors = torch.rand(8, 64, 1, 1).squeeze((2, 3))  # (8, 64)

# Without dim, squeeze() also drops the batch, when it happens to be 1.
last = torch.rand(1, 1)  # (B, 1), the last batch of an epoch
print("squeeze(1)", tuple(last.squeeze(1).shape))
print("squeeze() ", tuple(last.squeeze().shape))
