"""See the signal fade through 20 ReLU layers, by initialisation."""

import matplotlib.pyplot as plt
import torch
from torch import nn

torch.manual_seed(0)
inits = {"kaiming_normal_": nn.init.kaiming_normal_}
inits |= {"xavier_normal_": nn.init.xavier_normal_, "default": None}
fig, ax = plt.subplots(figsize=(4.8, 2.4))
for name, init in inits.items():
    h, spread = torch.randn(256, 64), []
    for _ in range(20):
        layer = nn.Linear(64, 64, bias=init is None)
        if init:
            init(layer.weight)
        h = layer(h).relu()
        spread.append(h.std(dim=0).mean().item())
    ax.semilogy(range(1, 21), spread)
    ax.text(20.4, spread[-1], name, va="center")
ax.set(xlabel="layer", xticks=[1, 10, 20], yticks=[1, 1e-4, 1e-8])
ax.set_ylabel("std over the batch")
ax.minorticks_off()
fig.savefig("plot_init.svg")
assert spread[-1] < 1e-6  # the default
