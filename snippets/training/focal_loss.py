"""Focal loss for several classes; torchvision has it for two."""

import torch
from torch.nn import functional as F
from torchvision.ops import sigmoid_focal_loss


def focal_loss(logits, target, gamma=2.0, alpha=None, ignore_index=-100):
    """Return the mean of (1 - p)^gamma * CE, p: probability of the true class.

    logits (N, C, ...), target (N, ...) int64, alpha (C,): weights of classes.
    Lin et al., Focal Loss for Dense Object Detection, 2017.
    """
    keep = target != ignore_index
    logits, target = logits.movedim(1, -1)[keep], target[keep]  # (M, C), (M,)
    ce = F.cross_entropy(logits, target, reduction="none")
    loss = (1 - (-ce).exp()) ** gamma * ce  # exp(-CE) = p
    if alpha is not None:
        loss = alpha[target] * loss
    return loss.sum() / max(len(loss), 1)


if __name__ == "__main__":
    alpha = torch.tensor([1.0, 5.0])  # the weights of the classes
    for p in (0.9, 0.5, 0.1):  # class 0 is the true one
        logits, target = torch.tensor([[p, 1 - p]]).log(), torch.tensor([0])
        ce = F.cross_entropy(logits, target)
        focal = focal_loss(logits, target, alpha=alpha)
        print(f"p {p}: cross entropy {ce:.3f}, focal {focal:.3f}")

    logits, target = torch.tensor([2.0, -1.0]), torch.tensor([1.0, 0.0])
    # Two classes, or several labels per sample: one logit for each.
    loss = sigmoid_focal_loss(logits, target, alpha=0.25, reduction="mean")
    print(f"one logit per label: {loss:.4f}")
