"""mAP of a detector: the mean average precision, as COCO defines it."""

from torch import tensor
from torchmetrics.detection import MeanAveragePrecision

truth = tensor([[5.0, 5, 45, 45]]), tensor([[0.0, 0, 90, 90], [9, 9, 49, 49]])
seen = tensor([[5.0, 5, 45, 45], [50, 5, 90, 45]]), tensor([[0.0, 0, 90, 70]])
targets = [  # one dict for each image; boxes are x1, y1, x2, y2
    {"boxes": truth[0], "labels": tensor([1])},
    {"boxes": truth[1], "labels": tensor([1, 2])},
]
preds = [  # yours: model(images), in eval() and no_grad()
    {"boxes": seen[0], "scores": tensor([0.9, 0.8]), "labels": tensor([1, 1])},
    {"boxes": seen[1], "scores": tensor([0.7]), "labels": tensor([1])},
]

metric = MeanAveragePrecision(box_format="xyxy", class_metrics=True)
metric.update(preds, targets)  # for every batch: two lists of dicts
result = metric.compute()
print(f"mAP@.5 {result['map_50']:.3f}, mAP@[.5:.95] {result['map']:.3f}")
classes, aps = result["classes"].view(-1), result["map_per_class"].view(-1)
for label, ap in zip(classes, aps, strict=True):  # a single class: 0-d
    print(f"class {label}: {ap:.3f}")
