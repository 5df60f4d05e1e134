"""Freeze a pretrained ResNet and train only a new last layer."""

import torch
from torch import nn
from torchvision.models import ResNet18_Weights, resnet18

torch.manual_seed(0)
model = resnet18(weights=None)  # yours: weights="DEFAULT"
preprocess = ResNet18_Weights.DEFAULT.transforms()  # what they expect
photos = torch.randint(256, (4, 3, 300, 400), dtype=torch.uint8)
loader = [(preprocess(photos), torch.tensor([0, 1, 2, 4]))]

device = "cuda" if torch.cuda.is_available() else "cpu"
model.requires_grad_(False)  # freeze everything
model.fc = nn.Linear(model.fc.in_features, 5)  # 5: your number of classes
model.to(device)
optimizer = torch.optim.AdamW(model.fc.parameters(), lr=1e-3)
for epoch in range(3):
    model.eval()  # not train(): BatchNorm would change
    for images, target in loader:
        images, target = images.to(device), target.to(device)
        loss = nn.functional.cross_entropy(model(images), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss:.1f}")  # of the last batch
