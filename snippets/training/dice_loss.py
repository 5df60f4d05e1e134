"""Soft Dice loss for segmentation, best added to the cross entropy."""

import torch
from torch.nn import functional as F


def dice_loss(logits, target, eps=1.0, ignore_index=255):
    """Return 1 - soft Dice, averaged over the classes of this batch.

    logits (N, C, ...), target (N, ...) int64. Sums run over the whole batch.
    """
    keep = target != ignore_index
    p = logits.movedim(1, -1)[keep].float().softmax(1)  # (M, C)
    y = F.one_hot(target[keep], logits.shape[1])  # (M, C)
    area = y.sum(0)  # (C,)
    dice = (2 * (p * y).sum(0) + eps) / (p.sum(0) + area + eps)
    present = area > 0  # Dice of an absent class is near 0, always
    return ((1 - dice) * present).sum() / present.sum().clamp(min=1)


if __name__ == "__main__":
    target = torch.zeros(2, 64, 64, dtype=torch.int64)  # (N, H, W)
    target[:, :4, :4] = 1  # 0.4 % of the pixels; class 2 is not there
    pred = {"background only": torch.zeros_like(target), "right": target}
    for name, classes in pred.items():
        logits = 8.0 * F.one_hot(classes, 3).movedim(-1, 1)  # (N, C, H, W)
        ce = F.cross_entropy(logits, target, ignore_index=255)
        loss = ce + dice_loss(logits, target)
        print(f"{name}: cross entropy {ce:.2f}, with Dice {loss:.2f}")
