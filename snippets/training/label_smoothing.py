"""Smooth hard labels so that a classifier does not grow overconfident."""

import torch
from torch import nn

torch.manual_seed(0)
logits = torch.randn(4, 10)  # (N, C)
target = torch.tensor([3, 0, 9, 3])  # (N,)

loss = nn.CrossEntropyLoss(label_smoothing=0.1)(logits, target)

# The same, spelled out: every class gets 0.1 / C, the true one 0.9 more.
soft = torch.full((4, 10), 0.1 / 10)
soft[torch.arange(4), target] += 0.9
torch.testing.assert_close(loss, nn.functional.cross_entropy(logits, soft))
print(f"true class {soft[0, 3]:.2f}, every other {soft[0, 0]:.2f}")
