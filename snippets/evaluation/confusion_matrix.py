"""Count which class is taken for which, batch by batch, on any device."""

import torch


def confusion_matrix(pred, target, num_classes, ignore_index=-100):
    """Return (C, C) int64 counts: rows are true classes, columns predictions.

    pred and target hold classes in [0, C), any integer type, the same shape.
    Raises ValueError for other classes, except ignore_index in the target.
    """
    keep = target != ignore_index
    labels = torch.stack((target[keep], pred[keep])).long()  # (2, N)
    # Unchecked, a class C would be counted in the next row.
    if ((labels < 0) | (labels >= num_classes)).any():
        raise ValueError(f"a class is not in [0, {num_classes})")
    index = labels[0] * num_classes + labels[1]
    counts = torch.bincount(index, minlength=num_classes**2)
    return counts.view(num_classes, num_classes)


if __name__ == "__main__":
    target = torch.tensor([0, 0, 0, 0, 1, 1, 2, 2, 2, -100])
    pred = torch.tensor([0, 0, 0, 1, 1, 1, 1, 2, 2, 0])
    cm = torch.zeros(3, 3, dtype=torch.int64)
    for p, t in zip(pred.split(4), target.split(4), strict=True):  # batches
        cm += confusion_matrix(p, t, num_classes=3)
    print(cm)
    print("recall   ", cm.diag() / cm.sum(1))  # share of each true class
    print("precision", cm.diag() / cm.sum(0))  # share of each prediction
