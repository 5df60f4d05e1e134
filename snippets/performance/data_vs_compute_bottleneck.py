"""Tell whether the loader or the model is slow: train on one batch again."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Linear(64, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def read(numbers):
    """Read one batch: slowly, as from a disk."""
    time.sleep(0.02)
    return torch.rand(len(numbers), 64), torch.randint(10, (len(numbers),))


def step(batch):
    """Your training step: from the copy to the device on; return the loss."""
    x, y = batch
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


loader = DataLoader(range(8 * 41), batch_size=8, collate_fn=read)

batches, seconds, steps = iter(loader), {}, 20
cached = iter([next(batches)] * steps)
for name, run in ("warm-up", batches), ("loader", batches), ("cached", cached):
    start = time.perf_counter()
    losses = [step(next(run)).item() for _ in range(steps)]
    seconds[name] = (time.perf_counter() - start) / len(losses)
assert seconds["loader"] > 0.01  # here read() sleeps; yours: print(seconds)
