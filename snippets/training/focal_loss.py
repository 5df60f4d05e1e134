"""Focal loss for several classes: hard samples count, easy ones do not."""

import torch
from torch.nn import functional as F


def focal_loss(logits, target, gamma=2.0, alpha=None, ignore_index=-100):
    """Return the mean of (1 - p)^gamma * CE, p: probability of the true class.

    logits (N, C, ...), target (N, ...) int64, alpha: C weights of the classes.
    Lin et al., Focal Loss for Dense Object Detection, 2017.
    """
    keep = target != ignore_index
    logits, target = logits.movedim(1, -1)[keep], target[keep]  # (M, C), (M,)
    ce = F.cross_entropy(logits.float(), target, reduction="none")
    loss = (1 - (-ce).exp()) ** gamma * ce  # exp(-CE) = p
    if alpha is not None:
        loss = torch.as_tensor(alpha).to(loss)[target.long()] * loss
    return loss.sum() / max(len(loss), 1)


if __name__ == "__main__":
    for p in (0.9, 0.5, 0.1):  # of the true class, 0
        logits, target = torch.tensor([[p, 1 - p]]).log(), torch.tensor([0])
        ce = F.cross_entropy(logits, target)
        focal = focal_loss(logits, target)
        half = focal_loss(logits, target, alpha=[0.5, 1.0])  # of class 0
        print(f"p {p}: CE {ce:.3f}, focal {focal:.3f}, alpha 0.5 {half:.3f}")
