"""Turn class indices into one-hot floats, laid out as the logits are."""

import torch
from torch.nn import functional as F


def one_hot(target: torch.Tensor, num_classes: int) -> torch.Tensor:
    """Return 1.0 at each sample's class and 0.0 elsewhere.

    Args:
        target: (N, ...) int64, each in [0, C); labels or a mask of pixels.
        num_classes: C.

    Returns:
        (N, C, ...) float32, the layout of the logits.

    Raises:
        RuntimeError: the target is not int64, or not in [0, C).

    Source: torch.nn.functional.one_hot in the PyTorch reference
    """
    last = F.one_hot(target, num_classes)  # (N, ..., C) int64
    return last.movedim(-1, 1).float()


if __name__ == "__main__":
    target = torch.tensor([2, 0])
    print(one_hot(target, num_classes=4))

    mask = torch.tensor([[[0, 1], [1, 2]]])  # (N, H, W)
    soft = one_hot(mask, num_classes=3)  # (N, C, H, W)
    assert torch.equal(soft.argmax(1), mask)

    # Cross entropy takes the indices themselves.
    logits = torch.linspace(-1, 1, 12).view(1, 3, 2, 2)
    loss = F.cross_entropy(logits, mask)
    torch.testing.assert_close(loss, F.cross_entropy(logits, soft))
