"""Profile training steps: a table of operators, a timeline for Perfetto."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 256)


def train_step():
    """Make one step."""
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()


train_step()  # a warm-up: the first step is slow
with torch.profiler.profile() as prof:  # the CPU, and a GPU if there is one
    for _ in range(3):
        train_step()  # yours
on = "device" if torch.cuda.is_available() else "cpu"
print(prof.key_averages().table(sort_by=f"self_{on}_time_total", row_limit=10))
prof.export_chrome_trace("trace.json")
