"""Make cuDNN's convolutions repeatable, or as fast as they get."""

import torch
from torch import nn

gpu = torch.accelerator.current_accelerator(check_available=True)
device = gpu or torch.device("cpu")
conv = nn.Conv2d(3, 16, kernel_size=3, device=device)
x = torch.randn(8, 3, 32, 32, device=device)

# Repeatable:
torch.backends.cudnn.benchmark = False
torch.backends.cudnn.deterministic = True
(first,) = torch.autograd.grad(conv(x).square().sum(), conv.weight)
(again,) = torch.autograd.grad(conv(x).square().sum(), conv.weight)
assert torch.equal(first, again)  # the same bits

# Fast, where inputs keep their size:
torch.backends.cudnn.benchmark = True
torch.backends.cudnn.deterministic = False
conv(x)  # on a GPU: times the algorithms once, and keeps the fastest
