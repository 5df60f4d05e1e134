"""Train with L-BFGS: each step calls a closure that computes the loss anew."""

import copy

import torch
from torch import nn
from torch.optim import LBFGS, Adam

torch.manual_seed(0)
x = torch.linspace(-1, 1, 50)[:, None]
y = torch.sin(3 * x)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
loss_fn = nn.MSELoss()
start = copy.deepcopy(model.state_dict())


def closure():
    """Return the loss, with the gradients of the parameters set."""
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)  # all the data, not a batch
    loss.backward()
    return loss


optimizer = LBFGS(model.parameters(), line_search_fn="strong_wolfe")
for _ in range(10):
    optimizer.step(closure)  # up to 20 iterations, some 25 calls

calls = optimizer.state_dict()["state"][0]["func_evals"]
print("L-BFGS: loss below 1e-4:", closure().item() < 1e-4)
model.load_state_dict(start)
adam = Adam(model.parameters(), lr=0.01)
for _ in range(calls):
    adam.step(closure)
print("Adam, as many calls: loss below 1e-2:", closure().item() < 1e-2)
