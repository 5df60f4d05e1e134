"""Take a step of gradient descent by hand: change the weights in place."""

import torch
from torch import nn

torch.manual_seed(0)
model, loss_fn, lr = nn.Linear(4, 1), nn.MSELoss(), 0.1
x, y = torch.randn(8, 4), torch.randn(8, 1)  # (N, ...), (N, ...)
print(f"loss before: {loss_fn(model(x), y):.2f}")

loss_fn(model(x), y).backward()
with torch.no_grad():  # outside, a weight may not be changed in place
    for w in model.parameters():
        if w.grad is not None:  # a frozen one has none
            w -= lr * w.grad
            w.grad = None  # or the next backward() adds to it

print(f"loss after:  {loss_fn(model(x), y):.2f}")
