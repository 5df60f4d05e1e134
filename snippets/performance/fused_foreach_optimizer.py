"""Update all parameters in one call: a fused optimizer, and its rivals."""

from copy import deepcopy

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


class Calls(TorchDispatchMode):
    """Count the calls of operators."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += 1
        return func(*args, **(kwargs or {}))


def train(model, optimizer):
    """Train for three steps; return the weights, the calls of an update."""
    x = torch.linspace(-1, 1, 64).view(8, 8)
    for _ in range(3):
        model(x).square().mean().backward()
        with Calls() as calls:
            optimizer.step()
        optimizer.zero_grad()
    return nn.utils.parameters_to_vector(model.parameters()), calls.count


if __name__ == "__main__":
    model = nn.Sequential(*(nn.Linear(8, 8) for _ in range(10)))
    twin, third = deepcopy(model), deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    fused, a = train(model, optimizer)
    optimizer = torch.optim.AdamW(twin.parameters(), lr=1e-3, foreach=True)
    foreach, b = train(twin, optimizer)
    optimizer = torch.optim.AdamW(third.parameters(), lr=1e-3, foreach=False)
    loop, c = train(third, optimizer)
    torch.testing.assert_close(fused, loop)
    torch.testing.assert_close(foreach, loop)
    print(f"calls in one update: fused {a}, foreach {b}, loop {c}")
