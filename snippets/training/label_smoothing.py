"""Smooth hard labels so that a classifier does not grow overconfident."""

import torch
from torch import nn
from torch.nn import functional as F


def smooth_targets(
    target: torch.Tensor, num_classes: int, smoothing: float
) -> torch.Tensor:
    """Return the distributions that ``label_smoothing=`` trains towards.

    Every class gets smoothing / C; the true class keeps 1 - smoothing more.

    Args:
        target: (N,) int64, each in [0, C).
        num_classes: C.
        smoothing: in [0, 1].

    Returns:
        (N, C) float32, rows sum to 1.

    Raises:
        RuntimeError: a target is not in [0, C).

    Source: Szegedy et al. 2016, section 7, https://arxiv.org/abs/1512.00567
    """
    one_hot = F.one_hot(target, num_classes).float()
    return one_hot * (1 - smoothing) + smoothing / num_classes


if __name__ == "__main__":
    torch.manual_seed(0)
    logits, target = torch.randn(4, 10), torch.tensor([3, 0, 9, 3])

    # This line is all that training needs.
    loss = nn.CrossEntropyLoss(label_smoothing=0.1)(logits, target)

    soft = smooth_targets(target, num_classes=10, smoothing=0.1)
    torch.testing.assert_close(loss, F.cross_entropy(logits, soft))
    print(f"true class {soft[0, 3]:.2f}, every other {soft[0, 0]:.2f}")
