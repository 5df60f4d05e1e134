"""Print a model: its layers, their output shapes and their parameters."""

import torchinfo
from torch import nn

body = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2))
model = nn.Sequential(body, nn.Flatten(), nn.Linear(8 * 13 * 13, 10))

print(model)  # the layers, without shapes
torchinfo.summary(model, input_size=(1, 1, 28, 28))  # that of your batch
