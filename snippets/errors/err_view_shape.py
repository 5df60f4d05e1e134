"""Flatten features without writing a number that the image's size decides."""

import torch
from torch import nn

torch.manual_seed(0)
conv = nn.Sequential(nn.Conv2d(1, 16, 5), nn.MaxPool2d(2))
features = conv(torch.randn(4, 1, 28, 28))  # (B, 16, 12, 12)

for shape in ((-1, 16 * 5 * 5), (4, -1)):
    try:
        features.permute(0, 2, 3, 1).view(shape)
    except RuntimeError as error:
        print(str(error)[:56])

print([*features.shape], features.numel(), features[0].numel())  # all, each
flat = features.flatten(1)  # (B, F): keeps the batch, whatever the size
head = nn.Linear(flat.shape[1], 10)  # 10 is yours; in __init__: LazyLinear

assert head(flat).shape == (4, 10)
