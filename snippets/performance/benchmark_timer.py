"""Time a call with warm-up and synchronization; compare it with another."""

import torch
from torch.utils.benchmark import Timer

device = torch.accelerator.current_accelerator(
    check_available=True
) or torch.device("cpu")
x = torch.rand(512, 512, device=device)
code = "x.square().sum(1)"

timer = Timer(code, globals={"x": x}, num_threads=1)
time = timer.blocked_autorange(min_run_time=0.2)
seconds, spread = time.median, time.iqr  # of one call

loop = Timer("[row.square().sum() for row in x]", globals={"x": x})
rival = loop.blocked_autorange(min_run_time=0.2)
print("one call is faster:", 3 * seconds < rival.median)
