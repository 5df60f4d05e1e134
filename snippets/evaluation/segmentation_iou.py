"""mIoU of a segmentation from counts that add up over the batches."""

import torch


def count_pixels(pred, target, C, ignore_index=255):
    """Return (C, C) counts: rows are true classes, columns predictions.

    pred and target hold classes, (N, H, W), any integer type.
    """
    keep = target != ignore_index
    labels = torch.stack((target[keep], pred[keep])).long()  # (2, M)
    # Unchecked, a class C would be counted in the next row.
    if ((labels < 0) | (labels >= C)).any():
        raise ValueError(f"a class is not in [0, {C})")
    index = labels[0] * C + labels[1]
    return torch.bincount(index, minlength=C * C).view(C, C)


def iou(counts):
    """Return (C,) IoU; NaN for a class that is neither there nor predicted."""
    hit = counts.diag()
    return hit / (counts.sum(0) + counts.sum(1) - hit)


if __name__ == "__main__":
    target = torch.tensor([[[0, 0], [1, 1]], [[0, 0], [0, 255]]])
    # In real code: pred = logits.argmax(1)
    pred = torch.tensor([[[0, 0], [1, 0]], [[0, 0], [2, 0]]])

    counts = torch.zeros(4, 4, dtype=torch.int64)
    for p, t in zip(pred.split(1), target.split(1), strict=True):  # batches
        counts += count_pixels(p, t, C=4)
    print("IoU", [round(v, 2) for v in iou(counts).tolist()])
    print(f"mIoU {iou(counts).nanmean():.2f}")
