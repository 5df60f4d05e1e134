"""Batch sequences of different lengths: pad them, and keep a mask."""

import torch
from torch import nn
from torch.utils.data import DataLoader


def pad_collate(samples):
    """Return padded inputs (B, T, ...), a mask (B, T), labels (B, ...).

    A sample is (input of shape (T_i, ...), label), or None to skip it.
    The mask is True where a value is real. ValueError if all are None.
    """
    samples = [sample for sample in samples if sample is not None]
    if not samples:
        raise ValueError("every sample of the batch is None")
    inputs = [torch.as_tensor(x) for x, _ in samples]
    labels = torch.stack([torch.as_tensor(y) for _, y in samples])
    lengths = torch.tensor([len(x) for x in inputs])
    padded = nn.utils.rnn.pad_sequence(inputs, batch_first=True)  # add 0s
    mask = torch.arange(padded.shape[1]) < lengths[:, None]
    return padded, mask, labels


def list_collate(samples):
    """Return lists, one item per sample, as detection models expect."""
    return tuple(list(items) for items in zip(*samples, strict=True))


if __name__ == "__main__":
    dataset = [(torch.tensor([5, 3, 8]), 0), (torch.tensor([7]), 1), None]
    loader = DataLoader(dataset, batch_size=32, collate_fn=pad_collate)
    for padded, mask, labels in loader:
        print(padded, mask, labels, sep="\n")
        print("mean:", (padded * mask).sum(1) / mask.sum(1))

    boxes = [torch.zeros(2, 4), torch.zeros(5, 4)]  # two objects, five
    images = [torch.zeros(3, 8, 8), torch.zeros(3, 6, 9)]
    pairs = list(zip(images, boxes, strict=True))
    x, y = next(iter(DataLoader(pairs, 2, collate_fn=list_collate)))
    print([tuple(image.shape) for image in x], [len(b) for b in y])
