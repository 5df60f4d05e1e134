"""Load your own pictures: one folder for each class."""

import tempfile
from pathlib import Path

import torch
from PIL import Image
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

made = Path(tempfile.mkdtemp())
for name, colour in {"cat": "orange", "dog": "brown"}.items():
    (made / name).mkdir()
    for i in range(3):
        Image.new("RGB", (40 + i, 30), colour).save(made / name / f"{i}.png")
root = made  # yours: root/cat/1.jpg, root/dog/7.jpg, …

to_float = v2.ToDtype(torch.float32, scale=True)
transform = v2.Compose([v2.Resize((224, 224)), v2.ToImage(), to_float])
dataset = ImageFolder(root, transform)
loader = DataLoader(dataset, batch_size=32, shuffle=True)
print(len(dataset), "pictures,", dataset.class_to_idx)
for images, labels in loader:  # (B, 3, 224, 224), (B,)
    print(tuple(images.shape), images.dtype, labels.dtype)
