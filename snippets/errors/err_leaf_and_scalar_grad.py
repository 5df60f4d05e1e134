"""Call backward on one number, and update a weight in place."""

import torch
from torch import nn

layer, x = nn.Linear(4, 3), torch.randn(5, 4)
w, lr = layer.weight, 0.1
loss = layer(x).square()  # (5, 3): loss.backward() would raise

loss.mean().backward()  # backward() needs one number
with torch.no_grad():  # elsewhere a leaf may not be changed
    w -= lr * w.grad
w.grad = None  # or the next backward() adds to it

print("a leaf:", w.is_leaf, "requires grad:", w.requires_grad)
