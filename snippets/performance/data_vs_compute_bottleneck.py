"""Tell whether the loader or the model is slow: train on one batch again."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader


def seconds_per_step(batches, step, steps=20):
    """Return the seconds of a training step, with the wait for its batch."""
    start = time.perf_counter()
    for _ in range(steps):
        step(next(batches)).item()  # .item() waits for the GPU
    return (time.perf_counter() - start) / steps


def compare(loader, step, steps=20):
    """Return the seconds of a step: with the loader, and with one batch."""
    batches = iter(loader)
    cached = iter([next(batches)] * steps)
    seconds_per_step(batches, step, steps)  # a warm-up
    with_loader = seconds_per_step(batches, step, steps)
    return with_loader, seconds_per_step(cached, step, steps)


if __name__ == "__main__":
    model = nn.Linear(64, 10)
    optimizer = torch.optim.SGD(model.parameters())

    def read(numbers):
        """Read slowly, as from a disk."""
        time.sleep(0.02)
        return torch.rand(8, 64), torch.randint(10, (8,))

    def step(batch):
        """Yours: from the copy to the device on."""
        loss = nn.functional.cross_entropy(model(batch[0]), batch[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    loader = DataLoader(range(8 * 41), batch_size=8, collate_fn=read)
    print("it waits for data:", compare(loader, step)[0] > 0.02)
