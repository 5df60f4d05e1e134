"""Draw MultiStepLR by epoch beside OneCycleLR by batch."""

import matplotlib.pyplot as plt
import torch
from torch.optim.lr_scheduler import MultiStepLR, OneCycleLR

weight = torch.nn.Parameter(torch.zeros(1))
one, two = (torch.optim.SGD([weight], 0.1, momentum=0.9) for _ in range(2))
steps = MultiStepLR(one, milestones=[5, 8], gamma=0.5)
cycle = OneCycleLR(two, max_lr=0.1, total_steps=200)

fig, axes = plt.subplots(1, 2, sharey=True, figsize=(4.8, 2.4))
panels = [(steps, "epoch", [0, 5, 8, 10]), (cycle, "batch", [0, 60, 200])]
for ax, (scheduler, unit, ticks) in zip(axes, panels, strict=True):
    rates = []
    for _ in range(ticks[-1]):
        rates.append(scheduler.get_last_lr()[0])
        scheduler.optimizer.step()
        scheduler.step()
    ax.stairs(rates, baseline=None, linewidth=1.5)
    ax.set(title=type(scheduler).__name__, xlabel=unit, xticks=ticks)
axes[0].set(ylabel="learning rate", ylim=0)
fig.savefig("plot_schedules.svg")
assert max(rates) == 0.1
