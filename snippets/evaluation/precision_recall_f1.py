"""Compute precision, recall and F1 of every class, and average them."""

import torch

target = torch.tensor([0, 0, 0, 0, 1, 1, 2])  # true classes, (N,)
pred = torch.tensor([0, 0, 0, 1, 1, 1, 1])  # logits.argmax(1), (N,)
C = 3

cm = torch.bincount(target * C + pred, minlength=C * C).view(C, C)
hits, called, truly = cm.diag(), cm.sum(0), cm.sum(1)  # (C,) each
precision = (hits / called).nan_to_num()  # 0 / 0 becomes 0
recall = (hits / truly).nan_to_num()
f1 = (2 * hits / (called + truly)).nan_to_num()
macro_f1 = f1.mean()  # every class counts the same
weighted_f1 = (f1 * truly).sum() / truly.sum()  # every sample does

print("precision", precision)
print("recall   ", recall)
print("f1       ", f1)
print(f"macro {macro_f1:.3f}, weighted {weighted_f1:.3f}")
