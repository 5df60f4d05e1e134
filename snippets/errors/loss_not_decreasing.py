"""Take three measurements before you change a model that does not learn."""

import math

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
x, y = torch.randn(32, 20), torch.randint(10, (32,))  # next(iter(loader))

logits = model(x)  # (N, C)
loss = loss_fn(logits, y)
C = 2 if y.is_floating_point() else logits.shape[1]  # floats: for BCE
guess = math.log(C)  # for MSE: y.var()
print(f"1. first loss {loss:.1f}, guessing costs {guess:.1f}")
loss.backward()
for name, p in model.named_parameters():
    print("2.", name, "None" if p.grad is None else f"{p.grad.norm():.0e}")
for _ in range(100):  # always the same batch
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
print(f"3. after 100 steps on one batch: {loss:.2f}")
