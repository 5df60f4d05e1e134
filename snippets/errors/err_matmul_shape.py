"""Read the two shapes in the error, then give the layer that many features."""

import torch
from torch import nn

x = torch.randn(64, 1, 28, 28)
conv = nn.Sequential(
    nn.Conv2d(1, 6, 5), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.MaxPool2d(2)
)
try:
    nn.Linear(400, 120)(conv(x).flatten(1))  # 400 is for 32x32 images
except RuntimeError as error:
    print("error:", str(error).removeprefix("addmm: "))

for layer in conv:
    x = layer(x)
    print(type(layer).__name__, tuple(x.shape))
x = x.flatten(1)  # (N, C*H*W), in forward, before the layer
print(x.shape[1])  # in __init__ write this number as in_features
fc = nn.Linear(x.shape[1], 120)  # outside a class; 120 is yours

lazy = nn.LazyLinear(120)  # takes it from the first batch
assert fc(x).shape == lazy(x).shape == (64, 120)
