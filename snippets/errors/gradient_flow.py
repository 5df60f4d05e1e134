"""Show the gradient of each parameter after backward, and dead ReLUs."""

import torch
from torch import nn


def describe_gradient(p):
    """Return the norm of a parameter's gradient, or why there is none."""
    if p.grad is None:
        return "None" if p.requires_grad else "frozen"
    return f"{p.grad.norm():.0e}"


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
    for name, p in net.named_parameters():
        print(f"{describe_gradient(p):8}{name}")
    print(f"dead units: {dead_share(h):.0%}")
