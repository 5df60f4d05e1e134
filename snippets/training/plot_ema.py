"""Draw how far the weights and their average are from the true ones."""

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(0)
model = nn.Linear(8, 1)
ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.98))
optimizer, off = torch.optim.SGD(model.parameters(), lr=0.1), []
for x in torch.randn(300, 16, 8):
    y = x.sum(1, keepdim=True) + torch.randn(16, 1)  # true weights: 1
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    ema.update_parameters(model)
    nets = model, ema.module
    off.append([(net.weight - 1).norm().item() for net in nets])
fig, ax = plt.subplots(figsize=(4.8, 2.4))
ax.plot(off, label=["model", "average"])
ax.set(ylim=0, xlabel="step", ylabel="distance")
ax.legend()
fig.savefig("plot_ema.svg")
assert torch.tensor(off)[-100:].mean(0).diff() < 0  # the average is nearer
