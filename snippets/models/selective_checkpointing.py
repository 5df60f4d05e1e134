"""Recompute a block in backward, except for its matrix products."""

from functools import partial

import torch
from torch import nn
from torch.utils.checkpoint import (
    checkpoint,
    create_selective_checkpoint_contexts,
)
from torch.utils.flop_counter import FlopCounterMode

layers = [nn.Linear(64, 256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, 64)]
block, x = nn.Sequential(*layers), torch.randn(32, 64)

keep = [torch.ops.aten.mm.default, torch.ops.aten.addmm.default]  # nn.Linear
context_fn = partial(create_selective_checkpoint_contexts, keep)
with FlopCounterMode(display=False) as selective:
    y = checkpoint(block, x, use_reentrant=False, context_fn=context_fn)
    y.sum().backward()

with FlopCounterMode(display=False) as full:
    checkpoint(block, x, use_reentrant=False).sum().backward()
print(f"{selective.get_total_flops():,} FLOPs with the list")
print(f"{full.get_total_flops():,} FLOPs without it")
