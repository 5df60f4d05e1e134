"""Run the first steps twice, and name what differs first."""

import torch
from torch import nn
from torch.utils.data import DataLoader


def seen(model, x, loss):
    """Return what a step has seen: call it after backward(), before step()."""
    params = list(model.parameters())
    weights = torch.cat([p.detach().flatten() for p in params])
    grads = [p.grad.flatten() for p in params if p.grad is not None]
    step = {"weights": weights, "batch": x, "loss": loss.detach()}
    step["gradients"] = torch.cat(grads)  # what is computed last, comes last
    return {name: tensor.cpu() for name, tensor in step.items()}


def first_difference(one, two):
    """Compare the steps of two runs: where do they differ first, if at all?"""
    for number, (a, b) in enumerate(zip(one, two, strict=True)):
        for name in a:
            if not torch.equal(a[name], b[name]):
                return number, name
    return None


def train(seed_first):
    """Train three steps from scratch; return what each of them has seen."""
    if seed_first:
        torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 1))
    torch.manual_seed(0)  # too late for the weights
    optimizer, steps = torch.optim.SGD(model.parameters(), lr=0.1), []
    for x in DataLoader(torch.randn(12, 4), batch_size=4, shuffle=True):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        steps.append(seen(model, x, loss))
        optimizer.step()
    return steps


if __name__ == "__main__":
    print("seed too late:", first_difference(train(False), train(False)))
    print("seed in time:", first_difference(train(True), train(True)))
