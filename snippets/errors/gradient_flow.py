"""Show the gradient of each parameter after backward, and dead ReLUs."""

import torch
from torch import nn


def gradient_report(model):
    """Return (name, state, norm) of each parameter, after backward()."""
    rows = []
    for name, p in model.named_parameters():
        norm = 0.0 if p.grad is None else p.grad.norm().item()
        if p.grad is None:
            state = "None" if p.requires_grad else "frozen"
        elif not p.grad.isfinite().all():
            state = "nan"
        else:
            state = "ok" if norm > 0 else "zero"
        rows.append((name, state, norm))
    return rows


def dead_share(activations):
    """Return the share of units that are 0 for every sample: (..., units)."""
    return (activations == 0).flatten(0, -2).all(0).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))
    net[1].bias.detach()[2:] = -9  # six units that the ReLU never lets through
    net[3].requires_grad_(False)

    h = net[0](torch.randn(32, 8))
    h = net[1](h).relu()
    net[3](h).mean().backward()  # net[2] was forgotten
    for name, state, norm in gradient_report(net):
        print(f"{name:10}{state:8}{norm:.0e}")
    print(f"dead units: {dead_share(h):.0%}")
