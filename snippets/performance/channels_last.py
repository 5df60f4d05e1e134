"""Run a convolutional model in channels_last: other strides, same shapes."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 3))
x = torch.randn(2, 3, 16, 16)  # (N, C, H, W), also after the change
expected = model(x)
print("strides before", x.stride())

model = model.to(memory_format=torch.channels_last)  # once, before training
x = x.to(memory_format=torch.channels_last)  # every batch
y = model(x)

print("strides after ", x.stride())
assert y.is_contiguous(memory_format=torch.channels_last)
torch.testing.assert_close(y, expected)
