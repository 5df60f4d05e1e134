"""IoU and Dice of each class, and pixel accuracy, of a segmentation."""

import torch
from torchmetrics import ConfusionMatrix

target = torch.tensor([[[0, 0], [1, 1]], [[0, 0], [0, 255]]])  # (N, H, W)
pred = torch.tensor([[[0, 0], [1, 0]], [[0, 0], [2, 0]]])  # logits.argmax(1)
batches = zip(pred.split(1), target.split(1), strict=True)
C = 4

metric = ConfusionMatrix("multiclass", num_classes=C, ignore_index=255)
for p, t in batches:
    metric.update(p, t)
counts = metric.compute()  # (C, C): rows are true classes
hit, called, truly = counts.diag(), counts.sum(0), counts.sum(1)
iou = hit / (called + truly - hit)  # (C,), NaN for a class that never occurs
dice = 2 * hit / (called + truly)
print("IoU ", iou)
print("Dice", dice)
accuracy = hit.sum() / counts.sum()
print(f"mIoU {iou.nanmean():.2f}, pixel accuracy {accuracy:.2f}")
