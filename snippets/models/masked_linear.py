"""A linear layer in which only the connections of a mask exist."""

import torch
from torch import nn
from torch.nn import functional as F


class MaskedLinear(nn.Linear):
    """(N, in) to (N, out); the mask, (out, in), is True where one exists."""

    def __init__(self, mask, bias=True):
        super().__init__(mask.shape[1], mask.shape[0], bias)
        self.register_buffer("mask", mask.bool())  # moved and saved

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)


mask = torch.ones(4, 4).tril()  # output i sees inputs 0 to i
layer, x = MaskedLinear(mask), torch.randn(8, 4)
optimizer = torch.optim.AdamW(layer.parameters(), weight_decay=0.1)
layer(x).square().mean().backward()
optimizer.step()
print(layer.weight.grad != 0, (layer.weight * layer.mask != 0).sum().item())
