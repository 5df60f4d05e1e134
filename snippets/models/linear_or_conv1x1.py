"""The same layer twice: a 1x1 convolution, and nn.Linear on channels last."""

import torch
from torch import nn

C, D = 64, 10
x = torch.randn(2, C, 8, 9)  # (N, C, H, W)
conv = nn.Conv2d(C, D, kernel_size=1)  # weight (D, C, 1, 1)

linear = nn.Linear(C, D)  # weight (D, C): a copy of the convolution
with torch.no_grad():
    linear.weight.copy_(conv.weight.flatten(1))
    linear.bias.copy_(conv.bias)
y = conv(x)  # (N, D, H, W)
same = linear(x.movedim(1, -1)).movedim(-1, 1)  # (N, D, H, W)
tokens = x.flatten(2).mT  # (N, H * W, C)
back = linear(tokens).mT.unflatten(2, x.shape[2:])  # (N, D, H, W)

torch.testing.assert_close(same, y)
torch.testing.assert_close(back, y)
print("tokens", *tokens.shape, "and back", *back.shape)
