"""Read a Python number from a one-element tensor, once instead of per step."""

from collections.abc import Iterable

import torch
from torch import nn
from torch.nn import functional as F


def train_epoch(
    model: nn.Module,
    batches: Iterable[tuple[torch.Tensor, torch.Tensor]],
    optimizer: torch.optim.Optimizer,
) -> float:
    """Train on every batch; return the mean squared error per sample.

    Args:
        model: maps (B, D) to (B, 1).
        batches: pairs x (B, D), y (B, 1), on the device of the model.

    Raises:
        ZeroDivisionError: there are no batches.

    Source: torch.Tensor.item in the PyTorch reference
    """
    total = torch.zeros((), device=next(model.parameters()).device)
    count = 0
    for x, y in batches:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(x)  # item() here would wait every step
        count += len(x)
    return total.item() / count


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(10, 3)
    y = x.sum(dim=1, keepdim=True)
    batches = list(zip(x.split(4), y.split(4), strict=True))  # 4, 4 and 2
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    losses = [train_epoch(model, batches, optimizer) for _ in range(20)]
    assert isinstance(losses[0], float)
    assert losses[-1] < 0.1 * losses[0]

    assert torch.tensor([[7]]).item() == 7  # any shape with one element
    assert torch.tensor([1, 2]).tolist() == [1, 2]  # any number of them
    try:
        torch.tensor([1, 2]).item()
    except RuntimeError as error:
        print(error)
