"""Reduce the losses of the samples to one number, then call backward."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
x = torch.randn(5, 4)  # (N, ...)
y = torch.tensor([0, 2, 1, 1, 0])  # (N,)
loss_fn = nn.CrossEntropyLoss(reduction="none")
try:
    loss_fn(model(x), y).backward()
except RuntimeError as error:
    print("error:", error)

loss = loss_fn(model(x), y)  # (N,): a number for each sample
loss.mean().backward()  # backward() needs one number

print(tuple(loss.shape), "->", tuple(loss.mean().shape))
