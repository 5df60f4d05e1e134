"""Set and update a weight in place, and call backward on one number."""

import torch
from torch import nn

layer, x = nn.Linear(4, 3), torch.randn(5, 4)
loss = layer(x).square()  # (5, 3): backward() would raise
loss.mean().backward()

with torch.no_grad():  # else: a leaf Variable that requires grad ...
    layer.weight -= 0.1 * layer.weight.grad
    layer.weight[0] = 0.0

print(layer.weight[0].tolist(), layer.weight.requires_grad)
