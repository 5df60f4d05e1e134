"""Replace, remove and insert layers of a pretrained network, by name."""

import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18(weights=None)  # yours: weights="DEFAULT"

model.fc = nn.Linear(model.fc.in_features, 10)  # replaced: 10 classes
model.set_submodule("layer4.1.relu", nn.GELU())  # replaced, further in
model.maxpool = nn.Identity()  # removed
model.avgpool = nn.Sequential(model.avgpool, nn.Dropout(0.2))  # one added

print(model(torch.randn(2, 3, 64, 64)).shape)
