"""Measure on a GPU how much memory activation checkpointing saves."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

blocks = nn.Sequential()
for _ in range(12):
    wide, narrow = nn.Linear(256, 1024), nn.Linear(1024, 256)
    blocks.append(nn.Sequential(wide, nn.GELU(), narrow))
blocks, data = blocks.to("cuda"), torch.randn(8192, 256, device="cuda")

peaks = []
for checkpointed in (False, True):
    blocks.zero_grad()
    torch.cuda.reset_peak_memory_stats()
    x = data
    for block in blocks:
        if checkpointed:
            x = checkpoint(block, x, use_reentrant=False)
        else:
            x = block(x)
    x.sum().backward()
    peaks.append(torch.cuda.max_memory_allocated() // 2**20)
assert peaks[1] < peaks[0] / 2, peaks  # MiB
