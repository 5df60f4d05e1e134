"""Give parts of a model options of their own, and add a part later."""

import torch
from torch import nn


class Net(nn.Module):
    """Yours: a pretrained backbone and a new head."""

    def __init__(self):
        super().__init__()
        self.backbone, self.head = nn.Linear(8, 8), nn.Linear(8, 2)


model = Net()

head = set(model.head.parameters())
rest = [p for p in model.parameters() if p not in head]  # forgets none
groups = [{"params": model.head.parameters()}, {"params": rest, "lr": 1e-5}]
optimizer = torch.optim.AdamW(groups, lr=1e-3)  # for a group without "lr"

# Later: a new layer. The others keep their moments.
model.extra = nn.Linear(2, 2)
optimizer.add_param_group({"params": model.extra.parameters(), "lr": 1e-4})

for group in optimizer.param_groups:
    size = sum(p.numel() for p in group["params"])
    print(f"{size}: lr {group['lr']}, decay {group['weight_decay']}")
