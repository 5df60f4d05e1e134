"""Write given values into a layer's weight, without a new parameter."""

import torch
from torch import nn

layer = nn.Linear(3, 2)
optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
values = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])  # (out, in)

with torch.no_grad():
    layer.weight.copy_(values)
assert torch.equal(layer.weight, values.to(layer.weight))  # not broadcast

layer(torch.ones(1, 3)).sum().backward()  # a gradient of 1 everywhere
optimizer.step()  # made before, and still trains this weight
print(layer.weight.tolist())
