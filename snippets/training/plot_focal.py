"""Draw the focal loss by the probability of the true class."""

import matplotlib.pyplot as plt
import torch
from torch.nn.functional import cross_entropy

p = torch.linspace(0.01, 1, 100)
both = torch.stack([p, 1 - p], 1).log()  # (N, 2); the true class is 0
ce = cross_entropy(both, torch.zeros(100, dtype=torch.int64), reduction="none")

fig, ax = plt.subplots(figsize=(4.8, 2.5))
for gamma in (0, 1, 2, 5):
    loss = (1 - p) ** gamma * ce
    ax.plot(
        p, loss, label=f"gamma={gamma}" + " (cross entropy)" * (gamma == 0)
    )
ax.text(0.84, 0.5, "easy", ha="center")
ax.text(0.1, 0.15, "hard", ha="center")
ax.set(ylim=(0, 3), xlim=(0, 1), xticks=[0, 0.5, 1], yticks=[0, 1, 2, 3])
ax.set(xlabel="probability of the true class", ylabel="loss")
ax.legend()
fig.savefig("plot_focal.svg")
assert loss[89] < 1e-4 * ce[89]  # p = 0.9, gamma = 5
