"""Focal loss for yes-or-no labels, ready-made in torchvision."""

import torch
from torchvision.ops import sigmoid_focal_loss

outputs = torch.tensor([[2.0, -1.0], [0.5, -3.0]])  # (N, K) logits
labels = torch.tensor([[1, 0], [1, 0]])  # (N, K) of 0 and 1

# alpha: the weight of the positives; the negatives get 1 - alpha.
loss = sigmoid_focal_loss(outputs, labels.float(), alpha=0.5, reduction="mean")

print(f"{loss:.4f}")
