"""Weigh rare classes more in the cross entropy, and leave samples out."""

import torch
from torch import nn
from torch.nn import functional as F

target = torch.tensor([0] * 90 + [1] * 9 + [2])  # (N,)
logits = torch.randn(100, 3)  # (N, C)

count = torch.bincount(target, minlength=3).clamp(min=1)  # of the training set
weight = count.sum() / (len(count) * count)  # (C,), "balanced"
loss_fn = nn.CrossEntropyLoss(weight=weight)
loss = loss_fn(logits, target)

# The mean is divided by the weights of the samples, not by their number.
w, each = weight[target], F.cross_entropy(logits, target, reduction="none")
torch.testing.assert_close(loss, (w * each).sum() / w.sum())
print("weights", [round(v, 2) for v in weight.tolist()])

# -100, the default ignore_index: padding, unlabelled pixels, a prompt.
target[:50] = -100
torch.testing.assert_close(
    loss_fn(logits, target), loss_fn(logits[50:], target[50:])
)
