"""Run the first steps twice, and name what differs first."""

import torch
from torch import nn
from torch.utils.data import DataLoader


def first_difference(one, two):
    """Return the step and the name of the first tensor that differs, or None.

    one, two: a dict of tensors per step, in the order of their computation.
    """
    for step, (a, b) in enumerate(zip(one, two, strict=True)):
        for name in a:
            if not torch.equal(a[name], b[name]):
                return step, name
    return None


def record(seed_first):
    """Train three steps from scratch, and keep what each of them saw."""
    if seed_first:
        torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 1))
    torch.manual_seed(0)  # too late for the weights
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    steps = []
    for x in DataLoader(torch.randn(12, 4), batch_size=4, shuffle=True):
        weights = torch.cat([p.detach().flatten() for p in model.parameters()])
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        grads = torch.cat([grad.flatten() for grad in grads])
        seen = {"weights": weights, "x": x, "loss": loss.detach()}
        steps.append({**seen, "grads": grads})
        optimizer.step()
    return steps


if __name__ == "__main__":
    for seed_first in (False, True):  # too late, then in time
        one, two = record(seed_first), record(seed_first)
        print("differs first:", first_difference(one, two))
