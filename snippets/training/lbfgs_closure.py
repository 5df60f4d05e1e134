"""Train with L-BFGS: each step calls a closure that computes the loss anew."""

import torch
from torch import nn
from torch.optim import LBFGS

torch.manual_seed(0)
x = torch.linspace(-1, 1, 50)[:, None]
y = torch.sin(3 * x)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
loss_fn = nn.MSELoss()

optimizer = LBFGS(model.parameters(), line_search_fn="strong_wolfe")


def closure():
    """Return the loss, with the gradients of the parameters set."""
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)  # all the data, not a batch
    loss.backward()
    return loss


for _ in range(10):
    loss = optimizer.step(closure)  # up to 20 iterations; repeat
assert loss < 1e-3
