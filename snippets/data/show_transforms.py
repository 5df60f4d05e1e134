"""Look at your transforms: what training sees of an image, and validation."""

import matplotlib.pyplot as plt
import torch
from PIL import Image, ImageDraw
from torchvision.transforms import v2

image = Image.new("RGB", (160, 120), "steelblue")  # your code: Image.open
draw = ImageDraw.Draw(image)
draw.rectangle((0, 85, 160, 120), fill="olivedrab")
draw.polygon([(30, 60), (60, 30), (90, 60)], fill="firebrick")
draw.rectangle((37, 60, 83, 100), fill="wheat")
draw.ellipse((120, 12, 142, 34), fill="gold")
torch.manual_seed(0)
augment = v2.Compose([v2.RandomResizedCrop(96), v2.RandomHorizontalFlip()])
crop = v2.Compose([v2.Resize(110), v2.CenterCrop(96)])
views = [image, *(augment(image) for _ in range(3)), crop(image)]
titles = ["image", "train", "train", "train", "val"]
fig, axes = plt.subplots(1, 5, figsize=(4.8, 1.2))
for ax, view, title in zip(axes, views, titles, strict=True):
    ax.imshow(view)
    ax.set_title(title)
    ax.axis("off")
fig.savefig("show_transforms.svg")
assert {view.size for view in views[1:]} == {(96, 96)}
