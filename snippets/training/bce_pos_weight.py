"""Let rare positives weigh as much as the many negatives."""

import torch
from torch import nn

train_labels = torch.tensor([[1, 0]] * 20 + [[0, 0]] * 79 + [[0, 1]])  # (N, K)

positives = train_labels.sum(0)  # (K,), of the whole training set
negatives = len(train_labels) - positives
pos_weight = negatives / positives.clamp(min=1)
loss_fn = nn.BCEWithLogitsLoss(pos_weight=pos_weight)  # once, before the loop

print(f"pos_weight {pos_weight.tolist()}")
