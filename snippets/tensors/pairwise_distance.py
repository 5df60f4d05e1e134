"""All distances and cosines between the rows of two matrices."""

import torch
from torch.nn import functional as F

torch.manual_seed(0)
a = torch.randn(100, 3) + 100  # (N, D), far from the origin
b = a[:40]  # (M, D)

dist = torch.cdist(a, b)  # (N, M), fast
mode = "donot_use_mm_for_euclid_dist"
exact = torch.cdist(a, b, compute_mode=mode)
nearest = exact.topk(3, largest=False).indices  # (N, 3)
cosine = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T

true = torch.cdist(a.double(), b.double())
print("fast, off by over 0.001:", bool((dist - true).abs().max() > 1e-3))
print("exact:", bool((exact - true).abs().max() < 1e-5))
