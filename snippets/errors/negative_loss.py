"""Targets out of range or outputs of the wrong kind make a loss negative."""

import torch
from torch.nn import functional as F

torch.manual_seed(0)
logits = torch.randn(4, 3)
outputs = logits.softmax(1)  # (N, C); log_softmax is what F.nll_loss expects
targets = torch.tensor([0, 2, 1, 1])  # (N,)
print(f"loss {F.nll_loss(outputs, targets):.2f}")

low, high = targets.min(), targets.max()
print(f"targets from {low:g} to {high:g}")  # BCE, Dice: 0 to 1
total = outputs.exp().sum(1).mean()  # CTC: sum(2)
print(f"exp(outputs) sums to {total:.2f}")  # NLL, KL, CTC: 1.00

print(f"mended {F.cross_entropy(logits, targets):.2f}")
