"""Leave biases and the weights of norm layers out of weight decay."""

import torch
from torch import nn

model = nn.Sequential(
    nn.Conv2d(3, 8, 3),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.Flatten(),
    nn.LazyLinear(10),
)
model(torch.zeros(2, 3, 8, 8))  # gives the lazy layer its shape

params = [p for p in model.parameters() if p.requires_grad]
groups = [
    {"params": [p for p in params if p.ndim >= 2], "weight_decay": 0.05},
    {"params": [p for p in params if p.ndim < 2], "weight_decay": 0.0},
]
optimizer = torch.optim.AdamW(groups, lr=1e-3)

for group in optimizer.param_groups:
    print(group["weight_decay"], [tuple(p.shape) for p in group["params"]])
