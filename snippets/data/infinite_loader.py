"""Take one batch, or loop for a number of steps instead of epochs."""

from itertools import islice

import torch
from torch.utils.data import DataLoader, TensorDataset


def forever(loader):
    """Yield batches without end, in a new order in each pass."""
    while True:
        yield from loader


if __name__ == "__main__":
    torch.manual_seed(0)
    data = TensorDataset(torch.arange(6), torch.arange(6) % 2)
    loader = DataLoader(data, batch_size=2, shuffle=True)

    x, y = next(iter(loader))  # one batch
    print("one batch:", x.tolist())
    for step, (x, y) in enumerate(islice(forever(loader), 7)):
        print(step, x.tolist(), y.tolist())
