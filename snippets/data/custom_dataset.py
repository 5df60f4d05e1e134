"""Write a Dataset: how many samples it has, and how to read one."""

import tempfile
from pathlib import Path

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2


class ImageDataset(Dataset):
    """Images and their classes, from pairs of a path and a number."""

    def __init__(self, samples, transform):
        self.samples, self.transform = samples, transform

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        path, label = self.samples[index]
        return self.transform(Image.open(path)), label


if __name__ == "__main__":
    root, classes = Path(tempfile.mkdtemp()), ["cat", "dog"]
    for name in ("cat_1.png", "cat_2.png", "dog_1.png"):  # yours are there
        Image.new("RGB", (40, 30)).save(root / name)
    paths = sorted(root.glob("*.png"))
    samples = [(p, classes.index(p.name.split("_")[0])) for p in paths]
    resize = [v2.RGB(), v2.ToImage(), v2.Resize((32, 32))]
    transform = v2.Compose([*resize, v2.ToDtype(torch.float32, scale=True)])
    loader = DataLoader(ImageDataset(samples, transform), batch_size=3)
    for images, labels in loader:
        print(tuple(images.shape), images.dtype, labels)
