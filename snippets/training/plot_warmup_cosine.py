"""Draw the learning rate of every step, and of some steps too many."""

import matplotlib.pyplot as plt
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
total_steps, warmup_steps = 200, 20
warmup = LinearLR(optimizer, start_factor=0.01, total_iters=warmup_steps)
cosine = CosineAnnealingLR(optimizer, T_max=total_steps - warmup_steps)
scheduler = SequentialLR(optimizer, [warmup, cosine], [warmup_steps])
rates = []
for _ in range(total_steps + 40):
    rates.append(scheduler.get_last_lr()[0])
    optimizer.step()
    scheduler.step()
fig, ax = plt.subplots()
ax.plot(rates[: total_steps + 1])
ax.plot(range(total_steps, len(rates)), rates[total_steps:], "--")
ax.text(16, 0.05, "warmup")
ax.text(116, 0.05, "cosine")
ax.text(166, 0.018, "past total_steps")
ax.set(ylim=0, xticks=[0, 20, 200], xlabel="step", ylabel="learning rate")
fig.savefig("plot_warmup_cosine.svg")
assert max(rates) == rates[warmup_steps]
