"""Fold each BatchNorm into the convolution before it, for inference."""

import torch
from torch import nn
from torch.fx.experimental.optimization import fuse
from torchvision.models import resnet18

model = resnet18(weights=None)  # yours: weights="DEFAULT"
x = torch.randn(2, 3, 32, 32)  # (N, C, H, W)
model(x)  # in train() mode this changes the running statistics

fused = fuse(model.eval())  # a copy: model itself stays as it is
with torch.no_grad():  # a convolution that runs twice is fused wrongly
    y, expected = fused(x), model(x)
assert (y - expected).norm() < 0.1 * expected.norm()

for name, net in (("before", model), ("after", fused)):
    count = sum(isinstance(m, nn.BatchNorm2d) for m in net.modules())
    print(f"{name}: {count} BatchNorm")
