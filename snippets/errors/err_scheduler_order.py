"""Raise the warning, then step the scheduler after the optimizer."""

import warnings

import torch
from torch import nn

model, loss_fn = nn.Linear(4, 1), nn.MSELoss()
loader = [(torch.randn(8, 4), torch.randn(8, 1))] * 2  # yours: a DataLoader
optimizer = torch.optim.SGD(model.parameters(), lr=0.8)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
with warnings.catch_warnings(record=True, action="always") as caught:
    scheduler.step()  # before any optimizer.step(): 0.8 is never used
print(str(caught[0].message).partition(" In PyTorch")[0])

optimizer = torch.optim.SGD(model.parameters(), lr=0.8)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
for epoch in range(3):
    print(f"epoch {epoch}: lr {scheduler.get_last_lr()[0]}")
    for x, y in loader:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()
    scheduler.step()  # once per epoch, after its updates
