"""Give parts of a model options of their own, and add a part later."""

import torch
from torch import nn

parts = {"embed": nn.Embedding(100, 8), "body": nn.Linear(8, 8)}
model = nn.ModuleDict(parts | {"head": nn.Linear(8, 2)})
model["body"].requires_grad_(False)  # frozen at first

groups = [
    {"params": model["embed"].parameters(), "weight_decay": 0.0},
    {"params": model["head"].parameters(), "lr": 1e-2},
]
optimizer = torch.optim.AdamW(groups, lr=1e-3)  # for what a group leaves out

# After some epochs: train the body, too. The others keep their moments.
model["body"].requires_grad_(True)
optimizer.add_param_group({"params": model["body"].parameters(), "lr": 1e-4})

for group in optimizer.param_groups:
    size = sum(p.numel() for p in group["params"])
    print(f"{size}: lr {group['lr']}, decay {group['weight_decay']}")
