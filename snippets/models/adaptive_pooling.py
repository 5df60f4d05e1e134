"""Pool feature maps of any size to one size, so that any image fits."""

import torch
from torch import nn

C, classes = 8, 3
features = nn.Conv2d(3, C, 3, padding=1)  # yours: the layers before

pool = nn.AdaptiveAvgPool2d(1)  # the mean over height and width
model = nn.Sequential(features, pool, nn.Flatten(), nn.Linear(C, classes))

for size in (14, 21), (32, 45):
    x = features(torch.randn(2, 3, *size))  # (B, C, H, W)
    torch.testing.assert_close(pool(x).flatten(1), x.mean(dim=(2, 3)))
    pooled = nn.AdaptiveAvgPool2d(7)(x)  # (B, C, 7, 7), for any H, W
    print(size, "to", tuple(pooled.shape[2:]))

# For export, if 7 divides H and W, a window of fixed size is the same.
x = torch.randn(2, C, 14, 21)
torch.testing.assert_close(nn.AvgPool2d((2, 3))(x), nn.AdaptiveAvgPool2d(7)(x))
