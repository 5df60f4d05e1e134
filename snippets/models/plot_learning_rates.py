"""Give each block its own learning rate, and draw them by depth."""

import matplotlib.pyplot as plt
import torch
from torch import nn

blocks = [nn.Linear(8, 8) for _ in range(6)]  # from the input to the head
decay, lr = 0.5, 1e-3
groups = [
    {"params": block.parameters(), "lr": lr * decay ** (5 - i)}
    for i, block in enumerate(blocks)
]
optimizer = torch.optim.AdamW(groups)

rates = [group["lr"] for group in optimizer.param_groups]
names = [f"block {i}" for i in range(5)] + ["head"]
fig, ax = plt.subplots()
bars = ax.barh(names, rates)
ax.bar_label(bars, [f"{rate:.1e}" for rate in rates], padding=4)
ax.set(xlabel="learning rate", xlim=(0, 1.2e-3))
ax.set_xticks([0, 5e-4, 1e-3], ["0", "5e-4", "1e-3"])
fig.savefig("plot_learning_rates.svg")
assert rates == sorted(rates)  # the head learns fastest
