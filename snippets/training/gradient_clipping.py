"""Clip the gradients in every step, and log their norm."""

import torch
from torch import nn

torch.manual_seed(0)
model, loss_fn = nn.Linear(8, 1), nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.randn(6, 16, 8) / 2  # 6 batches of 16
labels = inputs.mean(2, keepdim=True)
labels[3, 0] = 1000  # a broken label
loader = list(zip(inputs, labels, strict=True))  # yours: a DataLoader

for step, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    print(f"step {step}: loss {loss:.1f}, norm {norm:.1f}")
