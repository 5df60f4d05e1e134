"""See the box and the mask move with the image."""

import matplotlib.pyplot as plt
import torch
from torchvision import tv_tensors as tv
from torchvision.transforms import v2

y, x = torch.meshgrid(torch.arange(36), torch.arange(48), indexing="ij")
disc = (x - 33) ** 2 / 2 + (y - 14) ** 2 < 50  # (H, W)
grey = (80 + 2 * x + y).where(~disc, 235).to(torch.uint8)
box = tv.BoundingBoxes([24, 7, 19, 15], format="XYWH", canvas_size=(36, 48))
sample = tv.Image(grey.expand(3, -1, -1)), box, tv.Mask(disc[None])
changes = {"before": v2.Identity(), "flip": v2.RandomHorizontalFlip(1)}
changes["rotate"] = v2.RandomRotation((30, 30))
changes["crop"] = v2.CenterCrop((27, 36))
fig, axes = plt.subplots(1, 4, figsize=(4.8, 1.3))
for ax, (title, change) in zip(axes, changes.items(), strict=True):
    image, box, mask = change(sample)
    ax.imshow(image[0].numpy(), cmap="gray", vmin=0, vmax=255)
    ax.contour(mask[0].numpy(), [0.5], colors="#d4652a")
    x, y, w, h = box[0].tolist()
    ax.add_patch(plt.Rectangle((x - 0.5, y - 0.5), w, h, fill=False, ec="C0"))
    ax.set(title=title, xticks=[], yticks=[])
fig.savefig("show_masks_boxes.svg")
assert box.canvas_size == image.shape[1:] == mask.shape[1:]
