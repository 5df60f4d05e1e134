"""Measure how boxes overlap, and keep one box per object."""

import torch
from torchvision.ops import batched_nms, box_iou

truth = torch.tensor([[0.0, 0, 10, 10], [20, 20, 30, 40]])  # (M, 4)
boxes = torch.tensor(  # (N, 4): x1, y1, x2, y2
    [[0.0, 0, 10, 9], [1, 1, 11, 11], [20, 20, 30, 30], [20, 20, 30, 31]]
)
scores = torch.tensor([0.9, 0.8, 0.7, 0.6])  # (N,)
labels = torch.tensor([0, 0, 1, 2])  # (N,): classes

keep = batched_nms(boxes.float(), scores.float(), labels, iou_threshold=0.5)
boxes, scores, labels = boxes[keep], scores[keep], labels[keep]
iou = box_iou(boxes, truth)  # (K, M): of the K boxes that were kept

print(f"box 1 is dropped: {keep.tolist()}")
print("best IoU of each:", [round(v, 2) for v in iou.amax(1).tolist()])
