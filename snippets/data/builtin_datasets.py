"""Load MNIST by name; files that are there already need no network."""

import os
import struct
import tempfile
from pathlib import Path

import torch
from torch.utils.data import DataLoader
from torchvision import datasets
from torchvision.transforms import v2

# Eight black images in MNIST's format stand in for the four real files.
os.chdir(tempfile.mkdtemp())  # not in your own folder
raw = Path("data/MNIST/raw")
raw.mkdir(parents=True)
for part in ("train", "t10k"):
    images = struct.pack(">4i", 2051, 8, 28, 28) + bytes(8 * 28 * 28)
    (raw / f"{part}-images-idx3-ubyte").write_bytes(images)
    labels = struct.pack(">2i", 2049, 8) + bytes(range(8))
    (raw / f"{part}-labels-idx1-ubyte").write_bytes(labels)

transform = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])
train_set = datasets.MNIST("data", download=True, transform=transform)
test_set = datasets.MNIST("data", train=False, transform=transform)
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
x, y = next(iter(train_loader))
print(tuple(x.shape), y.dtype, len(train_set), train_set.classes[:2])
