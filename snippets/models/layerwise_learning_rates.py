"""Fine-tune with a small rate in the backbone and a larger one in the head."""

import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18(weights=None)  # yours: weights="DEFAULT"
model.fc = nn.Linear(model.fc.in_features, 5)  # a new head

head = list(model.fc.parameters())
backbone = [p for n, p in model.named_parameters() if not n.startswith("fc.")]
groups = [
    {"params": backbone, "lr": 1e-4},  # pretrained: small steps
    {"params": head, "lr": 1e-3},  # new: larger ones; tune both
]
optimizer = torch.optim.AdamW(groups, weight_decay=0.01)  # decay for both

for group in optimizer.param_groups:
    count = sum(p.numel() for p in group["params"])
    print(f"{count} parameters at {group['lr']}")
