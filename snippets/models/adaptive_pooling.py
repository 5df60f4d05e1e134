"""Pool feature maps of any size to one size, and know from which windows."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(2, 8, 14, 21)  # (B, C, H, W)

vector = nn.AdaptiveAvgPool2d(1)(x).flatten(1)  # (B, C), for any H, W
same = x.mean(dim=(2, 3))  # (B, C): the same without a layer
pooled = nn.AdaptiveAvgPool2d(7)(x)  # (B, C, 7, 7), for any H, W
H, W = x.shape[-2:]  # for export, if 7 divides H and W:
fixed = nn.AvgPool2d((H // 7, W // 7))(x)  # equal to pooled

torch.testing.assert_close(same, vector)
torch.testing.assert_close(fixed, pooled)

# The windows of one axis: floor(i * n / out) up to ceil((i + 1) * n / out).
row, n, out = torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0]]), 5, 3
windows = [(i * n // out, -(-(i + 1) * n // out)) for i in range(out)]
means = torch.stack([row[:, a:b].mean(dim=1) for a, b in windows], dim=1)
torch.testing.assert_close(nn.AdaptiveAvgPool1d(out)(row), means)
print(windows, means.tolist())
