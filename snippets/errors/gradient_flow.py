"""Show the gradient of each parameter after backward, and dead ReLUs."""

import torch
from torch import nn


def describe_gradient(p):
    """Return the norm of a parameter's gradient, or why there is none."""
    if p.grad is None:
        return "None" if p.requires_grad else "frozen"
    return f"{p.grad.norm():.0e}"


def dead_share(activations, dim):
    """Return the share of units that are 0 for every sample.

    dim holds the units: -1 after nn.Linear, 1 after nn.Conv2d.
    """
    zero = (activations == 0).movedim(dim, -1).flatten(0, -2)  # (-1, units)
    return zero.all(0).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))
    model[1].bias.detach()[2:] = -9  # six units that the ReLU never passes
    model[3].requires_grad_(False)

    h = model[0](torch.randn(32, 8))
    h = model[1](h).relu()
    model[3](h).mean().backward()  # model[2] was forgotten
    for name, p in model.named_parameters():
        print(f"{describe_gradient(p):8}{name}")
    print(f"dead units: {dead_share(h, dim=-1):.0%}")
