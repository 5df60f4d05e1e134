"""Clip gradients by their total norm, and watch that norm."""

import torch
from torch import nn
from torch.nn import functional as F


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: torch.Tensor,
    y: torch.Tensor,
    max_norm: float,
) -> torch.Tensor:
    """Update the model once, by a gradient of at most this norm.

    Args:
        model: maps x (N, ...) to the shape of y.
        optimizer: of the model's parameters.
        max_norm: longer gradients are shortened to it, in their direction.

    Returns:
        The norm of all gradients together *before* clipping, 0-dim: log it.

    Raises:
        RuntimeError: that norm is inf or NaN; the weights are unchanged.

    Source: Pascanu et al. 2013, section 3.2, https://arxiv.org/abs/1211.5063
    """
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    norm = nn.utils.clip_grad_norm_(
        model.parameters(), max_norm, error_if_nonfinite=True
    )
    optimizer.step()
    return norm


if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    x, y = torch.randn(16, 8), torch.randn(16, 1)
    y[3] = 1e4  # one broken label

    before = nn.utils.parameters_to_vector(model.parameters()).detach()
    norm = train_step(model, optimizer, x, y, max_norm=1.0)
    after = nn.utils.parameters_to_vector(model.parameters()).detach()

    assert norm > 1000
    torch.testing.assert_close((after - before).norm(), torch.tensor(1.0))
    print("the weights moved by 1, not by more than 1000")
