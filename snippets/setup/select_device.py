"""Run on the accelerator of this machine, or on the CPU if it has none."""

import torch
from torch import nn

gpu = torch.accelerator.current_accelerator(check_available=True)
device = gpu or torch.device("cpu")  # CUDA, ROCm, MPS, XPU or CPU

model = nn.Linear(4, 2).to(device)
x = torch.randn(3, 4, device=device)  # made there: nothing to copy
assert model(x).device == x.device
print("running on", device)
