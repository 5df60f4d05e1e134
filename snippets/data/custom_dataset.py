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
        return self.transform(Image.open(path).convert("RGB")), label


if __name__ == "__main__":
    root, classes = Path(tempfile.mkdtemp()), ["cat", "dog"]
    for name, mode in ("cat_1", "RGB"), ("cat_2", "RGBA"), ("dog_1", "L"):
        Image.new(mode, (40, 30)).save(root / f"{name}.png")
    paths = sorted(root.glob("*.png"))
    samples = [(p, classes.index(p.name.split("_")[0])) for p in paths]

    to_float = v2.ToDtype(torch.float32, scale=True)
    transform = v2.Compose([v2.Resize((224, 224)), v2.ToImage(), to_float])
    dataset = ImageDataset(samples, transform)
    loader = DataLoader(dataset, batch_size=32, shuffle=True)

    for images, labels in loader:  # (B, 3, 224, 224), (B,)
        print(tuple(images.shape), images.dtype, labels.sort().values)
