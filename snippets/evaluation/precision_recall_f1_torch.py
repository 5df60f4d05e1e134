"""Precision, recall and F1 of every class, on the device of the labels."""

import torch

target = torch.tensor([0, 0, 0, 0, 1, 1, 2])  # true classes, (N,)
pred = torch.tensor([0, 0, 0, 1, 1, 1, 1])  # logits.argmax(1), (N,)
C = 3

cm = torch.bincount(target * C + pred, minlength=C * C).view(C, C)
hits, called, truly = cm.diag(), cm.sum(0), cm.sum(1)  # (C,) each
precision = hits / called  # NaN: the class was never predicted
recall = hits / truly  # NaN: the class never occurs
f1 = 2 * hits / (called + truly)  # NaN: neither
macro_f1 = f1.nanmean()  # every class counts the same
print("precision", precision)
print("recall   ", recall)
print(f"macro F1 {macro_f1:.3f}")
