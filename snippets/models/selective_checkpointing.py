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
block = nn.Sequential(*layers)  # yours: any module
x = torch.randn(32, 64)  # yours: its input

keep = [torch.ops.aten.mm.default, torch.ops.aten.addmm.default]  # nn.Linear
context_fn = partial(create_selective_checkpoint_contexts, keep)
y = checkpoint(block, x, use_reentrant=False, context_fn=context_fn)

for name, options in ("with", {"context_fn": context_fn}), ("without", {}):
    with FlopCounterMode(display=False) as counter:
        checkpoint(block, x, use_reentrant=False, **options).sum().backward()
    print(f"{counter.get_total_flops():,} FLOPs {name} the list")
