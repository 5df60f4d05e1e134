"""Freeze some layers: they keep their weights, the others train."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
frozen = model[0]  # yours: such as model.backbone

frozen.requires_grad_(False)  # all of its parameters
frozen.eval()  # BatchNorm, dropout; again after each model.train()
trained = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-3)  # yours: which one, and lr

before = {k: p.detach().clone() for k, p in model.named_parameters()}
x, target = torch.randn(16, 4), torch.randint(2, (16,))
loss = nn.functional.cross_entropy(model(x), target)
optimizer.zero_grad()
loss.backward()
optimizer.step()

for name, p in model.named_parameters():
    state = "frozen" if torch.equal(p, before[name]) else "changed"
    print(f"{name:9} requires_grad={p.requires_grad!s:5} {state}")
