"""Weigh rare classes more in the cross entropy, and leave samples out."""

import torch
from torch import nn
from torch.nn import functional as F

device = torch.device("cpu")  # yours: "cuda"
train_labels = torch.tensor([0] * 90 + [1] * 9 + [2] + [-100] * 20)  # (N,)
num_classes = 3

ignore_index = -100  # the label of what must not count, often 255 in masks
labels = train_labels[train_labels != ignore_index]  # flattens masks, too
count = torch.bincount(labels, minlength=num_classes).clamp(min=1)
weight = count.sum() / (num_classes * count)  # (C,), "balanced"
loss_fn = nn.CrossEntropyLoss(weight, ignore_index=ignore_index).to(device)

# The mean is divided by the weights of the samples, not by their number.
logits = torch.randn(120, 3)  # (N, C)
loss = loss_fn(logits, train_labels)
each = F.cross_entropy(logits[:100], labels, reduction="none")
w = weight[labels]
torch.testing.assert_close(loss, (w * each).sum() / w.sum())
print("weights", [round(v, 2) for v in weight.tolist()])
