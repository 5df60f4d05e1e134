"""Take one batch, or loop for a number of steps instead of epochs."""

from itertools import islice

import torch
from torch.utils.data import DataLoader, TensorDataset


def forever(loader):
    """Yield batches without end, in a new order in each pass."""
    while True:
        batch = None
        for batch in loader:
            yield batch
        if batch is None:
            raise ValueError("the loader has no batch")


def train_step(x, y):
    """Yours: the five lines of a training step."""
    print("step with", x.tolist(), y.tolist())


if __name__ == "__main__":
    torch.manual_seed(0)
    data = TensorDataset(torch.arange(6), torch.arange(6) % 2)
    loader = DataLoader(data, batch_size=2, shuffle=True)
    steps = 7

    for x, y in islice(forever(loader), steps):
        train_step(x, y)  # yours

    batch = next(iter(loader))  # only one, [x, y]
    print("one batch:", batch)
