"""Compute top-1 and top-k accuracy over a whole data set, batch by batch."""

from collections.abc import Iterable

import torch
from torch import nn


def count_correct(
    logits: torch.Tensor, target: torch.Tensor, k: int = 1
) -> torch.Tensor:
    """Count the samples whose class is among the 1, 2, ..., k best guesses.

    Args:
        logits: (B, C), or probabilities: only their order matters.
        target: (B,) or (B, 1), classes in [0, C).
        k: at most C.

    Returns:
        (k,) int64 on the device of the logits; add it up over batches.

    Raises:
        RuntimeError: k is larger than C.
    """
    guesses = logits.topk(k, dim=1).indices  # (B, k), best first
    hits = guesses == target.view(-1, 1)  # (B, k), at most one per row
    return hits.sum(0).cumsum(0)


@torch.inference_mode()
def accuracy(
    model: nn.Module, batches: Iterable, device: torch.device, k: int = 1
) -> list[float]:
    """Return the top-1, ..., top-k accuracy; the model stays in eval mode."""
    model.eval()
    correct, count = torch.zeros(k, dtype=torch.int64, device=device), 0
    for x, target in batches:
        logits = model(x.to(device, non_blocking=True))
        target = target.to(device, non_blocking=True)
        correct += count_correct(logits, target, k)
        count += len(target)
    # Only here the device is waited for.
    return [hits / count for hits in correct.tolist()]


if __name__ == "__main__":
    device = torch.accelerator.current_accelerator(check_available=True)
    device = device or torch.device("cpu")
    # A "model" that hands on its input: the rows are logits, C = 3.
    model, x = nn.Identity(), torch.eye(3)[[0, 1, 2, 0]]
    x[:, 1] += 0.5  # class 1 is always first or second
    target = torch.tensor([0, 1, 2, 1])
    batches = list(zip(x.split(3), target.split(3), strict=True))

    top1, top2 = accuracy(model, batches, device, k=2)
    assert (top1, top2) == (0.75, 1.0)
    # The mean over batches counts the last sample like three others.
    means = [accuracy(model, [batch], device)[0] for batch in batches]
    assert sum(means) / len(means) == 0.5
    print(f"top-1 {top1:.0%}, top-2 {top2:.0%}")
