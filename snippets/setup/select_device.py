"""Run on the accelerator of this machine, or on the CPU if it has none."""

import torch
from torch import nn

model, x = nn.Linear(4, 2), torch.randn(3, 4)

gpu = torch.accelerator.current_accelerator(check_available=True)
device = gpu or torch.device("cpu")  # CUDA, ROCm, MPS, XPU or CPU
model = model.to(device)
x = x.to(device)  # yours: each batch, and its labels

mask = torch.ones(3, device=device)  # made there: nothing to copy
assert model(x).device == mask.device
print("running on", device)
