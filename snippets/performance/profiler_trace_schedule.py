"""Profile three training steps: a table of operators, a trace for Perfetto."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 256)

with torch.profiler.profile(  # of the CPU, and of a GPU if there is one
    schedule=torch.profiler.schedule(wait=1, warmup=1, active=3, repeat=1),
    on_trace_ready=lambda prof: prof.export_chrome_trace("trace.json"),
    acc_events=True,  # the table sums up every cycle
) as prof:
    for _ in range(5):  # wait + warmup + active
        with torch.profiler.record_function("forward"):  # a name of your own
            loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        prof.step()  # at the end of each step

print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))
