"""Raise the warning, then step the scheduler after the optimizer."""

import warnings

import torch
from torch import nn

model, batches = nn.Linear(4, 1), torch.randn(2, 8, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.8)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
with warnings.catch_warnings(record=True, action="always") as caught:
    scheduler.step()  # before any optimizer.step(): 0.8 is never used
print(str(caught[0].message).partition(" In PyTorch")[0])

optimizer = torch.optim.SGD(model.parameters(), lr=0.8)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
for epoch in range(3):
    print(f"epoch {epoch}: lr {scheduler.get_last_lr()[0]}")
    for x in batches:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    scheduler.step()  # once per epoch, after its updates
