"""See what IoU divides by what, for a mask that is too far to the right."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

y, x = torch.meshgrid(torch.arange(24), torch.arange(36), indexing="ij")
masks = {"target": (x - 14) ** 2 + (y - 12) ** 2 < 90}  # (H, W)
masks["pred"] = (x - 20) ** 2 + (y - 12) ** 2 < 90
masks["intersection"] = masks["target"] & masks["pred"]
masks["union"] = masks["target"] | masks["pred"]
a, b, both, either = (mask.sum().item() for mask in masks.values())
iou, dice = both / either, 2 * both / (a + b)

fig, axes = plt.subplots(1, 4, figsize=(4.8, 1.5))
cells = ListedColormap(["#8a8a8a30", "#3b82d6"])
for ax, (name, mask) in zip(axes, masks.items(), strict=True):
    ax.imshow(mask.numpy(), cmap=cells)
    ax.set_title(name)
    ax.text(17.5, 30, f"{mask.sum()} pixels", ha="center")
    ax.axis("off")
fig.suptitle(f"IoU = {both} / {either} = {iou:.2f}, Dice {dice:.2f}")
fig.savefig("show_iou.svg")
assert iou < dice
