"""Edit a pretrained network: input channels, last layer, inner layers."""

import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18(weights=None)  # yours: weights="DEFAULT"
images = torch.randn(2, 4, 64, 64)  # RGB and depth
before = model.eval()(images[:, :3])

# Other input channels: a new first layer, with the old weights.
old = model.conv1  # for 3 channels
new = nn.Conv2d(4, 64, 7, stride=2, padding=3, bias=False)
model.conv1 = new.to(old.weight)  # its device and dtype
with torch.no_grad():
    model.conv1.weight[:, :3] = old.weight[:, :3]
    model.conv1.weight[:, 3:] = 0  # the new channel starts at 0
torch.testing.assert_close(model(images), before)  # nothing is lost

# Other edits: one line each.
model.fc = nn.Linear(model.fc.in_features, 10)
model.set_submodule("layer4.1.relu", nn.GELU())
model.maxpool = nn.Identity()
model.avgpool = nn.Sequential(model.avgpool, nn.Dropout(0.2))
print(model(images).shape)
