"""Build the model as the file knows it, then replace the head."""

import torch
from torch import nn
from torchvision.models import resnet18

torch.save(resnet18().state_dict(), "pretrained.pt")  # 1000 classes

weights = torch.load("pretrained.pt", map_location="cpu", weights_only=True)
model = resnet18(num_classes=len(weights["fc.bias"]))  # as in the file
model.load_state_dict(weights)
model.fc = nn.Linear(model.fc.in_features, 5)  # only to train 5 classes

print(f"{len(weights['fc.bias'])} classes in the file,", model.fc)
