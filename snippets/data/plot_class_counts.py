"""Compare how often each class is in the data, and in what is drawn."""

import matplotlib.pyplot as plt
import torch
from torch.utils.data import WeightedRandomSampler

torch.manual_seed(0)
target = torch.tensor([0] * 900 + [1] * 90 + [2] * 10)  # (N,)
weight = 1 / torch.bincount(target)[target]  # one per sample
sampler = WeightedRandomSampler(weight, len(target))

drawn = torch.tensor(list(sampler))  # the indices of one epoch
fig, ax = plt.subplots()
for x, y, label in ((0, target, "data"), (0.4, target[drawn], "drawn")):
    counts = torch.bincount(y).tolist()
    bars = ax.bar([x, x + 1, x + 2], counts, 0.4, label=label)
    ax.bar_label(bars)
ax.set_xticks([0.2, 1.2, 2.2], ["class 0", "class 1", "class 2"])
ax.set_ylabel("samples per epoch")
ax.legend(loc="upper right")
fig.savefig("plot_class_counts.svg")
rare = drawn[target[drawn] == 2]
print(f"the {rare.unique().numel()} rare samples were drawn {len(rare)} times")
