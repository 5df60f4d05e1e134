"""Compare a hard target with a smoothed one, class by class."""

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch.nn import functional as F

C, epsilon = 10, 0.1
hard = F.one_hot(torch.tensor(3), C).float()  # (C,)
soft = (1 - epsilon) * hard + epsilon / C

fig, ax = plt.subplots()
classes = np.arange(C)
ax.bar(classes - 0.2, hard.numpy(), width=0.4, label="hard")
ax.bar(classes + 0.2, soft.numpy(), width=0.4, label="label_smoothing=0.1")
ax.annotate(f"{soft[3]:.2f}", (3.45, soft[3]), va="top")
ax.annotate(f"{soft[7]:.2f} each", (6.3, 0.04))
ax.set_xticks(range(C))
ax.set_xlabel("class")
ax.set_ylabel("target")
ax.legend(loc="upper right")
fig.savefig("plot_smoothed_targets.svg")
assert soft.sum().isclose(torch.tensor(1.0))
