"""Turn class indices into one-hot floats, laid out as the logits are."""

import torch
from torch.nn import functional as F

target = torch.tensor([2, 0])  # (N,) int64
encoded = F.one_hot(target, num_classes=4).float()  # (N, C)

mask = torch.tensor([[[0, 1], [1, 2]]])  # (N, H, W) int64
planes = F.one_hot(mask, num_classes=3).float()  # (N, H, W, C)
planes = planes.movedim(-1, 1)  # (N, C, H, W)

print(encoded)
assert torch.equal(planes.argmax(1), mask)  # the way back
