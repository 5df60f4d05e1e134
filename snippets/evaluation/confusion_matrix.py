"""Count which class is taken for which, batch by batch, on any device."""

import torch


def confusion_matrix(
    pred: torch.Tensor,
    target: torch.Tensor,
    num_classes: int,
    ignore_index: int = -100,
) -> torch.Tensor:
    """Count the pairs: rows are the true class, columns the predicted one.

    Args:
        pred: any shape, integer, predicted classes in [0, C).
        target: the same shape, true classes in [0, C) or ignore_index.
        num_classes: C.
        ignore_index: samples with this target are left out.

    Returns:
        (C, C) int64 on the device of the input; add it up over batches.

    Raises:
        RuntimeError: the shapes differ.
        TypeError: a tensor is floating point, such as logits.
        ValueError: a class is not in [0, C).

    Source: sklearn.metrics.confusion_matrix, same convention
    """
    labels = torch.stack((target, pred)).view(2, -1)  # (2, N)
    if labels.is_floating_point():
        raise TypeError("pass class indices, such as logits.argmax(1)")
    labels = labels.long()  # uint8 would overflow below
    labels = labels[:, labels[0] != ignore_index]  # (2, M)
    # Unchecked, a class C would be counted in the next row.
    bad = labels[(labels < 0) | (labels >= num_classes)]
    if len(bad):
        raise ValueError(f"class {bad[0]} is not in [0, {num_classes})")
    index = labels[0] * num_classes + labels[1]
    counts = torch.bincount(index, minlength=num_classes**2)
    return counts.view(num_classes, num_classes)


if __name__ == "__main__":
    target = torch.tensor([0, 0, 0, 0, 1, 1, 2, 2, 2, -100])
    pred = torch.tensor([0, 0, 0, 1, 1, 1, 1, 2, 2, 0])
    total = torch.zeros(3, 3, dtype=torch.int64)
    for p, t in zip(pred.split(4), target.split(4), strict=True):  # batches
        total += confusion_matrix(p, t, num_classes=3)
    assert total.tolist() == [[3, 1, 0], [0, 2, 0], [0, 1, 2]]

    recall = total.diag() / total.sum(1)  # over a row: all truly of class c
    precision = total.diag() / total.sum(0)  # over a column: all called c
    print(total)
    print("recall", recall, "precision", precision)
