"""Compute the mean and std of each channel, batch by batch."""

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
images = torch.rand(100, 3, 8, 8) * torch.rand(100, 1, 1, 1)  # 0 to 1
dataset = TensorDataset(images, torch.zeros(100))
loader = DataLoader(dataset, batch_size=32)

count, total, squares = 0, 0.0, 0.0
for x, _ in loader:  # (B, C, H, W), without Normalize
    x = x.double()  # millions of float32 values lose digits
    count += x.numel() // x.shape[1]  # pixels
    total += x.sum((0, 2, 3))
    squares += x.square().sum((0, 2, 3))
mean = total / count  # (C,)
std = (squares / count - mean.square()).clamp(min=0).sqrt()

print("mean ", [round(v, 4) for v in mean.tolist()])
print("std  ", [round(v, 4) for v in std.tolist()])
wrong = images.std((2, 3)).mean(0)  # the mean of the images' own std
print("wrong", [round(v, 4) for v in wrong.tolist()])
