"""Soft Dice loss for segmentation, best added to the cross entropy."""

import torch
from torch.nn import functional as F


def dice_loss(logits, target, eps=1.0, ignore_index=255):
    """Return 1 - soft Dice, averaged over the classes.

    logits (N, C, ...), target (N, ...) int64. Sums run over the whole batch;
    a class that is neither there nor predicted has a Dice of 1, due to eps.
    """
    keep = target != ignore_index
    p = logits.movedim(1, -1)[keep].float().softmax(1)  # (M, C)
    y = F.one_hot(target[keep], logits.shape[1])  # (M, C)
    overlap = (p * y).sum(0)  # (C,)
    total = p.sum(0) + y.sum(0)
    dice = (2 * overlap + eps) / (total + eps)
    return 1 - dice.mean()


if __name__ == "__main__":
    target = torch.zeros(2, 64, 64, dtype=torch.int64)
    target[:, :4, :4] = 1  # 0.4 % of the pixels
    logits = torch.zeros(2, 2, 64, 64)
    logits[:, 0] = 5  # background everywhere

    ce, dice = F.cross_entropy(logits, target), dice_loss(logits, target)
    loss = ce + dice
    print(f"cross entropy {ce:.2f}, Dice {dice:.2f}, sum {loss:.2f}")
