"""Write a loss of your own, as a function and as a module."""

import torch
from torch import nn


def quantile_loss(pred, target, q=0.5):
    """Return the pinball loss; at its minimum a share q lies below pred."""
    if pred.shape != target.shape:  # (N, 1) and (N,) would give (N, N)
        raise ValueError(f"shapes {tuple(pred.shape)}, {tuple(target.shape)}")
    error = target - pred  # your formula: torch operations only
    return torch.maximum(q * error, (q - 1) * error).mean()


class QuantileLoss(nn.Module):
    """The same for a fixed q."""

    def __init__(self, q):
        super().__init__()
        self.q = q

    def forward(self, pred, target):
        return quantile_loss(pred, target, self.q)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.rand(500, 1)
    y = x + torch.randn(500, 1)  # (N, 1), as the model's output
    model, loss_fn = nn.Linear(1, 1), QuantileLoss(0.9)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()
    print(f"{(y < model(x)).float().mean():.0%} of y below the prediction")
