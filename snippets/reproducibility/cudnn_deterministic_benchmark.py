"""Make cuDNN's convolutions repeat bit by bit."""

import torch
from torch import nn

torch.backends.cudnn.benchmark = False  # one choice of algorithm in all runs
torch.backends.cudnn.deterministic = True  # only algorithms that repeat

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
conv = nn.Conv2d(3, 16, kernel_size=3, device=device)
x = torch.randn(8, 3, 32, 32, device=device)
(first,) = torch.autograd.grad(conv(x).square().sum(), conv.weight)
(again,) = torch.autograd.grad(conv(x).square().sum(), conv.weight)
assert torch.equal(first, again)  # the same bits
