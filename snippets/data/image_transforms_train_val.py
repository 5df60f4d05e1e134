"""Prepare images: random crops to train on, one fixed crop to validate."""

import torch
from PIL import Image
from torchvision.transforms import v2

mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]  # ImageNet
to_image = [v2.RGB(), v2.ToImage()]  # (3, H, W) uint8
augment = [v2.RandomResizedCrop(224), v2.RandomHorizontalFlip()]
crop = [v2.Resize(256), v2.CenterCrop(224)]
to_float = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean, std)]
train_transform = v2.Compose([*to_image, *augment, *to_float])
val_transform = v2.Compose([*to_image, *crop, *to_float])

torch.manual_seed(0)
image = Image.linear_gradient("L").resize((400, 300))
for transform in (train_transform, val_transform):
    once, again = transform(image), transform(image)
    print(tuple(once.shape), "twice the same:", torch.equal(once, again))
white = val_transform(Image.new("RGB", (400, 300), "white"))
print("white becomes", [round(v, 2) for v in white[:, 0, 0].tolist()])
