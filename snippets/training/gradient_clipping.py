"""Clip the gradients in every step, and log their norm."""

import torch
from torch import nn

torch.manual_seed(0)
model, loss_fn = nn.Linear(8, 1), nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(6, 16, 8) / 2  # 6 batches of 16
y = x.mean(2, keepdim=True)
y[3, 0] = 1000  # a broken label

for step in range(6):
    optimizer.zero_grad()
    loss = loss_fn(model(x[step]), y[step])
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    print(f"step {step}: loss {loss:.1f}, norm {norm:.1f}")
