"""Train a torchvision detector on your own images and boxes."""

import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.models import detection


class Boxes(Dataset):
    """Yours: an image and its target. Here, one bright box, or none."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        generator = torch.Generator().manual_seed(i)
        image = torch.rand(3, 64, 64 + 10 * i, generator=generator) / 3
        boxes = torch.empty(0, 4)  # an image without objects
        if i > 0:
            image[0, 10:50, 10 * i : 10 * i + 40] = 1
            boxes = torch.tensor([[10.0 * i, 10, 10 * i + 40, 50]])  # xyxy
        labels = torch.ones(len(boxes), dtype=torch.int64)  # 0 is background
        return image, {"boxes": boxes, "labels": labels}


def train(model, loader, optimizer):
    """Train for one epoch, and return the mean loss."""
    device, total = next(model.parameters()).device, 0.0
    model.train()
    for images, targets in loader:  # collate_fn=lambda b: tuple(zip(*b))
        images = [image.to(device) for image in images]
        targets = [{k: v.to(device) for k, v in t.items()} for t in targets]
        loss = sum(model(images, targets).values())  # a dict of losses
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


if __name__ == "__main__":
    torch.set_num_threads(1)  # leave this out: it suits tiny images
    torch.manual_seed(0)
    loader = DataLoader(
        Boxes(),
        2,
        shuffle=True,
        collate_fn=lambda b: tuple(zip(*b, strict=True)),
    )
    model = detection.fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None,
        weights_backbone=None,  # yours: "DEFAULT"
        num_classes=2,  # your classes, and one for the background
        min_size=64,  # leave this out, too
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    first, last = (train(model, loader, optimizer) for _ in range(2))
    assert last < first
    with torch.no_grad():  # without targets: a list of dicts
        (found,) = model.eval()([Boxes()[1][0]])
    print("predicted for an image:", *found)
