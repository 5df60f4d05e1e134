"""Measure which part of an epoch the training loop waits for data."""

import time
from itertools import islice

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
model = nn.Linear(64, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


class Files(Dataset):
    """Samples that take 5 ms each to read."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        time.sleep(0.005)
        return torch.randn(64), index % 10


def train_step(batch):
    """Make one step; return the loss."""
    x, y = batch
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


loader = DataLoader(Files(), batch_size=8)  # yours

batches = islice(loader, 100)  # not a whole epoch
train_step(next(batches)).item()  # starts the workers; not counted
waited, start = 0.0, time.perf_counter()
ready = start
for batch in batches:
    waited += time.perf_counter() - ready
    train_step(batch).item()  # yours: returns the loss, a tensor
    ready = time.perf_counter()  # item() has waited for the GPU
share = waited / (ready - start)
print(f"{share:.0%} of the time waiting for data")
