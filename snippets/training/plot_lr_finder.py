"""Draw the loss of every rate that was tried, and the one to begin with."""

import matplotlib.pyplot as plt
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 3))
opt, losses = torch.optim.AdamW(net.parameters()), []
lrs = torch.logspace(-5, 0, 100).tolist()  # more is chaos
for lr in lrs:
    opt.param_groups[0]["lr"] = lr
    x = torch.randn(64, 10)
    losses.append(nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)))
    opt.zero_grad()
    losses[-1].backward()
    opt.step()
curve = torch.stack(losses).detach()
smooth = curve.unfold(0, 9, 1).mean(1)  # of 9 batches
lowest = lrs[4 + smooth.argmin()]
fig, ax = plt.subplots(figsize=(4.8, 2.4))
ax.semilogx(lrs, curve, "#8a8a8a80", lrs[4:-4], smooth, "C0")
for lr, name in ((lowest, "lowest"), (lowest / 10, "begin here")):
    ax.axvline(lr, linestyle="--", color="black", linewidth=0.8)
    ax.text(lr / 1.2, 1.5, name, ha="right")
ax.set(ylim=(0, 2), xlabel="learning rate", ylabel="loss")
ax.minorticks_off()
fig.savefig("plot_lr_finder.svg")
assert smooth.min() < 0.8 * curve[0]
