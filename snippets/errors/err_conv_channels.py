"""Give grayscale images the three channels that a model for colour wants."""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
x = torch.rand(16, 1, 28, 28)  # (N, 1, H, W)
nhwc = torch.rand(16, 28, 28, 3)  # NumPy, OpenCV, TensorFlow
flat = torch.rand(16, 28, 28)  # no channel dimension
one = torch.rand(3, 28, 28)  # no batch dimension
for images in x, nhwc, flat, flat[0], one:
    try:
        model(images)
    except (RuntimeError, ValueError) as error:
        print("error:", error)

x = x.expand(-1, 3, -1, -1)  # to (N, 3, H, W): the channel three times

nchw = nhwc.permute(0, 3, 1, 2)
gray = flat.unsqueeze(1).expand(-1, 3, -1, -1)
for images in x, nchw, gray, one.unsqueeze(0):
    print(tuple(images.shape), "->", tuple(model(images).shape))
