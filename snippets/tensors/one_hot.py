"""Turn class indices into one-hot floats, laid out as the logits are."""

import torch
from torch.nn import functional as F

C = 3  # yours: the number of classes
target = torch.tensor([2, 0])  # (N,) int64
mask = torch.tensor([[[0, 1], [1, 2]]])  # (N, H, W) int64

encoded = F.one_hot(target, C).float()  # (N, C)
planes = F.one_hot(mask, C).movedim(-1, 1).float()  # (N, C, H, W)

print(encoded)
assert torch.equal(planes.argmax(1), mask)  # the way back
