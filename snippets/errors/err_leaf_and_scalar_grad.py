"""Raise both errors, then mend each."""

import torch
from torch import nn

layer, x = nn.Linear(4, 3), torch.randn(5, 4)
try:
    layer.weight[0] = 0.0
except RuntimeError as error:
    print("leaf:", error)
with torch.no_grad():  # to set or update a weight
    layer.weight[0] = 0.0

out = torch.zeros(5)  # without requires_grad=True
for i in range(5):
    out[i] = layer(x[i]).sum()  # out now needs a gradient

losses = layer(x).square()  # (5, 3)
try:
    losses.backward()
except RuntimeError as error:
    print("scalar:", error)
losses.mean().backward()  # a loss is one number
print(layer.weight[0].tolist(), out.requires_grad)
