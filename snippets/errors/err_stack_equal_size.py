"""Raise the error, then batch images of different sizes, and sequences."""

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from torchvision.transforms import v2

resize = v2.Resize((224, 224))  # images: height and width


def pad_collate(batch):
    """Return padded sequences (B, T), their lengths (B,), labels (B, ...)."""
    sequences, labels = zip(*batch, strict=True)
    sequences = [torch.as_tensor(s) for s in sequences]  # lists, arrays
    lengths = torch.tensor([len(s) for s in sequences])
    padded = pad_sequence(sequences, batch_first=True)
    return padded, lengths, torch.stack([torch.as_tensor(y) for y in labels])


if __name__ == "__main__":
    images = [torch.rand(3, 240, 320), torch.rand(3, 240, 300)]
    try:
        next(iter(DataLoader(images, batch_size=2)))
    except RuntimeError as error:
        print("error:", error)
    images = [resize(image) for image in images]
    print(next(iter(DataLoader(images, batch_size=2))).shape)

    dataset = [(torch.tensor([5, 3]), 0), (torch.tensor([7, 2, 9]), 1)]
    loader = DataLoader(dataset, batch_size=32, collate_fn=pad_collate)
    print(next(iter(loader)))
