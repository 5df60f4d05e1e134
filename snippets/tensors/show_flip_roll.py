"""See what flip, rot90 and roll do to an image."""

import matplotlib.pyplot as plt
import torch

x = torch.full((7, 6), 0.3)  # (H, W)
x[1:6, 1] = x[1, 1:5] = x[3, 1:4] = 1  # the letter F

views = {"x": x, "flip(-1)": x.flip(-1), "flip(-2)": x.flip(-2)}
views["rot90(1)"] = x.rot90(1, (-2, -1))
views["roll(2)"] = x.roll(2, dims=-1)
fig, axes = plt.subplots(1, 5, figsize=(4.8, 1.2))
for ax, (title, view) in zip(axes, views.items(), strict=True):
    ax.imshow(view.numpy(), cmap="gray", vmin=0, vmax=1)
    ax.set_title(title)
    ax.axis("off")
fig.savefig("show_flip_roll.svg")
assert all((view == 1).sum() == (x == 1).sum() for view in views.values())
