"""Freeze a pretrained ResNet and train only a new last layer."""

import torch
from torch import nn
from torchvision.models import ResNet18_Weights, resnet18

torch.manual_seed(0)
# Your code, with weights (downloaded once):
# model = resnet18(weights=ResNet18_Weights.DEFAULT)
model = resnet18(weights=None)  # here without a download
model.requires_grad_(False)  # freeze everything
model.fc = nn.Linear(model.fc.in_features, 5)  # new: 5 classes
optimizer = torch.optim.AdamW(model.fc.parameters(), lr=1e-3)
model.eval()  # not train(): BatchNorm would change

preprocess = ResNet18_Weights.DEFAULT.transforms()  # what they expect
photos = torch.randint(256, (4, 3, 300, 400), dtype=torch.uint8)
images, target = preprocess(photos), torch.tensor([0, 1, 2, 4])
for step in range(3):
    loss = nn.functional.cross_entropy(model(images), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}: loss {loss:.1f}")
