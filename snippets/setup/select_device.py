"""Run on the accelerator of this machine, or on the CPU if it has none."""

import torch
from torch import nn

model, x, y = nn.Linear(4, 2), torch.randn(3, 4), torch.ones(3, 2)

gpu = torch.accelerator.current_accelerator(check_available=True)
device = gpu or torch.device("cpu")  # CUDA, ROCm, MPS, XPU or CPU
model = model.to(device)
x, y = x.to(device), y.to(device)  # each batch

mask = torch.ones(3, device=device)  # made there: nothing to copy
assert model(x).device == y.device == mask.device
print("running on", device)
