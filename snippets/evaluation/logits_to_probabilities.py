"""From the logits of a model to probabilities and decisions."""

import torch
from torch.nn import functional as F

logits = torch.tensor([[2.0, -1.0, 0.5], [-3.0, 4.0, 4.5]])  # (N, C)

probs = logits.softmax(dim=1)  # one class per sample: rows sum to 1
classes = logits.argmax(dim=1)  # (N,); the same with probs
several = logits.sigmoid()  # independent labels: each from 0 to 1
present = logits > 0  # the same as several > 0.5

target = torch.tensor([0, 2])
loss = F.cross_entropy(logits, target)  # takes logits, never probs
print([round(p, 3) for p in probs[0].tolist()], classes.tolist())
print([round(p, 3) for p in several[0].tolist()], present[0].tolist())
print(f"{loss:.3f}, {F.cross_entropy(probs, target):.3f} by mistake")
