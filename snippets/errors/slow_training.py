"""Find what a slow training loop waits for, and count what changes save."""

import time

import torch
from torch import nn
from torch.overrides import TorchFunctionMode


def measure(loader, step):
    """Return the share of the time that is spent waiting for data."""
    waited, begin = 0.0, time.perf_counter()
    start = begin
    for batch in loader:
        waited += time.perf_counter() - start
        step(batch).item()  # the loss: it waits until a GPU is done
        start = time.perf_counter()
    return waited / (start - begin)


def read_files():
    """Yield batches that take 80 ms each to read."""
    for _ in range(4):
        time.sleep(0.08)
        yield torch.ones(8, 64)


class Calls(TorchFunctionMode):
    """Note the name of every torch call."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


if __name__ == "__main__":
    share = measure(read_files(), torch.sum)
    print("mostly waiting for data:", share > 0.5)
    x, y = torch.randn(512, 64), torch.randint(10, (512,))
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    for size, every in (8, 1), (8, 16), (128, 1):
        with Calls() as calls:
            for i in range(512 // size):
                batch = slice(i * size, (i + 1) * size)
                loss = nn.functional.cross_entropy(net(x[batch]), y[batch])
                loss.backward()
                if i % every == 0:
                    loss.item()  # a GPU has to finish before
        print(len(calls.names), "calls,", calls.names.count("item"), "waits")
    with Calls() as calls:
        torch.stack([row / row.norm() for row in x])
    with Calls() as at_once:
        x / x.norm(dim=1, keepdim=True)
    print(f"row by row {len(calls.names)}, at once {len(at_once.names)}")
