"""Give a pretrained network another number of input channels."""

import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18(weights=None)  # yours: weights="DEFAULT"
images = torch.randn(2, 4, 64, 64)  # RGB and depth
before = model.eval()(images[:, :3])

old = model.conv1  # for 3 channels
new = nn.Conv2d(4, 64, 7, stride=2, padding=3, bias=False)
model.conv1 = new.to(old.weight)  # its device and dtype
with torch.no_grad():
    model.conv1.weight[:, :3] = old.weight[:, :3]
    model.conv1.weight[:, 3:] = 0  # the new channel starts at 0

torch.testing.assert_close(model(images), before)  # nothing is lost
