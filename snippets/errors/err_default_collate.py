"""Raise the errors of default_collate, then give it what it can batch."""

import torch
from PIL import Image
from torch.utils.data import DataLoader, default_collate
from torchvision.transforms import v2

size = v2.Resize((224, 224))  # set it: one size for all images
to_float = v2.ToDtype(torch.float32, scale=True)
transform = v2.Compose([v2.RGB(), v2.ToImage(), size, to_float])


def skip_none(batch):
    """Batch the samples that are not None; None if there is no such sample."""
    batch = [sample for sample in batch if sample is not None]
    return default_collate(batch) if batch else None


if __name__ == "__main__":
    image = Image.new("RGB", (4, 4))
    for bad in (None, (image, 7)):
        try:
            next(iter(DataLoader([bad, bad], batch_size=2)))
        except TypeError as error:
            print("error:", error)
    good = (transform(image), 7)
    loader = DataLoader([good, None, good], 3, collate_fn=skip_none)
    images, labels = next(iter(loader))
    print(images.shape, labels)
