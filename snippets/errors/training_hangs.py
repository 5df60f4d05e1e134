"""A clock that ends a training which waits, and prints where it waits."""

import faulthandler

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(24, 2), torch.randn(24, 1)), 8)
steps = 0


def train_step(x, y):  # yours: forward, backward and optimizer step of a batch
    """Take one step on x (N, 2) and y (N, 1)."""
    global steps
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    steps += 1


faulthandler.dump_traceback_later(300, exit=True)  # seconds
for x, y in loader:
    faulthandler.dump_traceback_later(300, exit=True)  # the clock starts again
    train_step(x, y)
faulthandler.cancel_dump_traceback_later()

assert steps == 3  # nothing waited, so nothing was printed
