"""Bring images of other layouts to (N, C, H, W), with 3 channels."""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
gray = torch.rand(16, 1, 28, 28)
nhwc = torch.rand(16, 28, 28, 3)  # NumPy, OpenCV, TensorFlow
flat = torch.rand(16, 28, 28)  # no channel dimension
one = torch.rand(3, 28, 28)  # no batch dimension
for images in gray, nhwc, flat, flat[0], one:
    try:
        model(images)
    except (RuntimeError, ValueError) as error:
        print("error:", error)

gray = gray.expand(-1, 3, -1, -1)  # 1 to 3
nhwc = nhwc.permute(0, 3, 1, 2)  # to NCHW
flat = flat[:, None].expand(-1, 3, -1, -1)
one = one.unsqueeze(0)  # a batch of one
for images in gray, nhwc, flat, one:
    print(tuple(images.shape), "->", tuple(model(images).shape))
