"""Raise the error, then build the model as the file knows it."""

import torch
from torch import nn
from torchvision.models import resnet18

torch.save(resnet18().state_dict(), "pretrained.pt")  # 1000 classes
model = resnet18(num_classes=5)

weights = torch.load("pretrained.pt", map_location="cpu", weights_only=True)
try:
    model.load_state_dict(weights, strict=False)  # does not help
except RuntimeError as error:
    print(error)

num_classes = len(weights["fc.bias"])  # read from the file
model = resnet18(num_classes=num_classes)
model.load_state_dict(weights)  # strict: every shape fits
model.fc = nn.Linear(model.fc.in_features, 5)  # only to train 5 classes
print("loaded with", num_classes, "classes, now", model.fc.out_features)
