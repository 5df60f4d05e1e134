"""See the sides and the modes of F.pad."""

import matplotlib.pyplot as plt
import torch
from torch.nn import functional as F

letter = torch.full((1, 1, 7, 6), 0.3)  # (N, C, H, W)
letter[..., 1:6, 1] = letter[..., 1, 1:5] = letter[..., 3, 1:4] = 1  # an F
pad = 5, 2, 3, 0  # left, right, top, bottom

fig, axes = plt.subplots(1, 4, figsize=(4.8, 1.3))
modes = ["constant", "reflect", "replicate", "circular"]
for ax, mode in zip(axes, modes, strict=True):
    padded = F.pad(letter, pad, mode=mode)[0, 0]
    ax.imshow(padded.numpy(), cmap="gray", vmin=0, vmax=1)
    edge = plt.Rectangle((4.5, 2.5), 6, 7, fill=False, color="#d4652a", lw=2)
    ax.add_patch(edge)
    ax.set_title(mode)
    ax.axis("off")
    assert torch.equal(padded[3:, 5:-2], letter[0, 0])
fig.savefig("show_padding.svg")
