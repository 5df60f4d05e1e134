"""Mix pairs of training samples, and their labels, against overfitting."""

import torch
from torch.distributions import Beta
from torch.nn import functional as F


def mixup(
    x: torch.Tensor, target: torch.Tensor, num_classes: int, alpha: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Blend every sample of a batch with another one of the same batch.

    One weight is drawn per batch: lam ~ Beta(alpha, alpha).

    Args:
        x: (N, ...) floating point, on any device.
        target: (N,) int64 on the same device, each in [0, C).
        num_classes: C.
        alpha: > 0; the smaller, the closer lam is to 0 or 1.

    Returns:
        Mixed samples, (N, ...), and soft targets, (N, C) float32.

    Raises:
        ValueError: alpha is not positive.
        RuntimeError: a target is not in [0, C).

    Source: Zhang et al. 2018, https://arxiv.org/abs/1710.09412
    """
    lam = Beta(alpha, alpha, validate_args=True).sample().item()
    order = torch.randperm(len(x), device=x.device)
    soft = F.one_hot(target, num_classes).float()  # (N, C)
    return (
        lam * x + (1 - lam) * x[order],
        lam * soft + (1 - lam) * soft[order],
    )


def mixed_accuracy(logits: torch.Tensor, soft: torch.Tensor) -> torch.Tensor:
    """Return the mean target weight of the predicted classes, 0-dim.

    Args:
        logits: (N, C).
        soft: (N, C), rows sum to 1. With one-hot rows this is the accuracy.
    """
    return soft.gather(1, logits.argmax(1, keepdim=True)).mean()


if __name__ == "__main__":
    torch.manual_seed(0)
    images, target = torch.randn(8, 3, 32, 32), torch.arange(8) % 4
    mixed, soft = mixup(images, target, num_classes=4, alpha=1.0)

    logits = torch.randn(8, 4, requires_grad=True)  # stands for model(mixed)
    F.cross_entropy(logits, soft).backward()

    torch.testing.assert_close(soft.sum(1), torch.ones(8))
    best = mixed_accuracy(soft, soft)  # of a model that always gets it right
    assert best < 1
    print(f"accuracy on this batch: at most {best:.2f}")
