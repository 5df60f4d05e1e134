"""Time a call of a model, with warm-up and synchronization."""

import torch
from torch import nn
from torch.utils.benchmark import Timer

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
model.to(device).eval()
x = torch.rand(256, 512, device=device)  # yours: a batch, on its device

names = {"model": model, "x": x}  # all that the call reads
threads = torch.get_num_threads()  # the Timer's default is 1
timer = Timer("model(x)", globals=names, num_threads=threads)
with torch.inference_mode():
    result = timer.blocked_autorange(min_run_time=0.5)  # in seconds
print(f"{result.median:.1e} s a call, spread {result.iqr:.0e} s")

print(f"{len(x) / result.median:.1e} samples a second")
assert sum(result.raw_times) >= 0.5  # min_run_time is that of all runs
