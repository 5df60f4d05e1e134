"""Time a call with warm-up and synchronization; compare it with another."""

import torch
from torch.utils.benchmark import Timer

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(512, 512, device=device)  # (N, D)

timer = Timer("x.square().sum(1)", globals={"x": x}, num_threads=1)
result = timer.blocked_autorange(min_run_time=0.2)
print(f"{result.median:.1e} s a call, spread {result.iqr:.0e} s")

loop = Timer("[row.square().sum() for row in x]", globals={"x": x})
rival = loop.blocked_autorange(min_run_time=0.2)
print("one call is faster:", 3 * result.median < rival.median)
