"""A layer with weights or a mode is a module; the rest are functions."""

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    """(B, 1, H, W) to (B, 10)."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)  # weights: a module, made once
        self.dropout = nn.Dropout(0.2)  # a mode: follows train() and eval()
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        x = F.relu(self.conv(x))  # no weights, no mode: a function
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.fc(self.dropout(x))


torch.manual_seed(0)
model, x = Net().eval(), torch.randn(2, 1, 8, 8)
as_layers = nn.Sequential(model.conv, nn.ReLU(), nn.AdaptiveAvgPool2d(1))
assert torch.equal(model(x), model.fc(as_layers(x).flatten(1)))
