"""Measure the peak of each phase of a step; record a snapshot to look at."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 10))
model, x = model.to("cuda"), torch.randn(8192, 1024, device="cuda")
optimizer = torch.optim.AdamW(model.parameters())

torch.cuda.memory._record_memory_history(max_entries=100_000)
peaks = {}
for phase in ("forward", "backward", "optimizer"):
    torch.cuda.reset_peak_memory_stats()
    if phase == "forward":
        loss = model(x).square().mean()
    elif phase == "backward":
        loss.backward()
    else:
        optimizer.step()
    peaks[phase] = torch.cuda.max_memory_allocated() // 2**20  # MiB
torch.cuda.memory._dump_snapshot("memory.pickle")
torch.cuda.memory._record_memory_history(enabled=None)  # stop
assert peaks["backward"] > peaks["optimizer"], peaks
