"""See which layer leaves a checkerboard, before any training."""

import matplotlib.pyplot as plt
import torch
from torch import nn

ramp = torch.linspace(0.5, 1, 6)
x = (ramp[:, None] * ramp)[None, None]  # (N, C, H, W)
layers = {"kernel 3": nn.ConvTranspose2d(1, 1, 3, stride=2, padding=1)}
layers["kernel 4"] = nn.ConvTranspose2d(1, 1, 4, stride=2, padding=1)
up, conv = nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(1, 1, 3)
layers["Upsample"] = nn.Sequential(up, conv)

fig, axes = plt.subplots(1, 4, figsize=(4.8, 1.4))
axes[0].set_title("input")
axes[0].imshow(x[0, 0].numpy(), cmap="gray", vmin=0)
for ax, (title, layer) in zip(axes[1:], layers.items(), strict=True):
    for weights in layer.parameters():
        nn.init.constant_(weights, weights.ndim // 4)  # weight 1, bias 0
    y = layer(x).detach()[0, 0]
    ax.imshow(y[1:-1, 1:-1].numpy(), cmap="gray", vmin=0)
    ax.set_title(title)
plt.setp(axes, xticks=[], yticks=[], frame_on=False)
fig.savefig("show_checkerboard.svg")
assert (y[:, 1:] > y[:, :-1]).all()  # as smooth as the input
