"""Print precision, recall and F1 of every class, and their averages."""

import numpy as np
import torch
from sklearn.metrics import classification_report

names = ["cat", "dog", "bird", "fish"]  # yours: class_names[i] for class i
target = torch.tensor([0, 0, 0, 0, 1, 1, 2, -100])  # (N,): true classes
pred = torch.tensor([0, 0, 0, 1, 1, 1, 1, 0])  # (N,): logits.argmax(1)

keep = target != -100  # samples without a label would be errors
target, pred = target[keep].cpu(), pred[keep].cpu()
classes = range(len(names))  # also those without samples
report = classification_report(
    target, pred, labels=classes, target_names=names, zero_division=np.nan
)
print(report)
