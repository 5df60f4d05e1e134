"""See what came instead of a tensor, and take the tensor out of it."""

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.LSTM(8, 16, batch_first=True)
head = nn.Linear(16, 2)
x = torch.randn(4, 5, 8)  # (B, T, D)
try:
    head(layer(x))
except TypeError as error:
    print("error:", error)

result = layer(x)
print(type(result).__name__)  # NoneType: its forward lacks a return
if isinstance(result, tuple):  # as of an LSTM
    output = result[0]  # (B, T, H)
scores = head(output)

assert scores.shape == (4, 5, 2)
