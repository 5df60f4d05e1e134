"""All distances and cosines between the rows of two matrices."""

import torch
from torch.nn import functional as F

torch.manual_seed(0)
a = torch.randn(100, 3)  # (N, D)
b = a[:40]  # (M, D)
k = 3  # yours: the number of neighbours

dist = torch.cdist(a, b)  # (N, M), Euclidean
nearest = dist.topk(k, largest=False).indices  # (N, k), rows of b
cosine = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T  # (N, M)

# Far from the origin, small distances are wrong without the exact mode.
far, near = a + 100, b + 100
fast = torch.cdist(far, near)
mode = "donot_use_mm_for_euclid_dist"
exact = torch.cdist(far, near, compute_mode=mode)
true = torch.cdist(far.double(), near.double())
print("fast, off by over 0.001:", bool((fast - true).abs().max() > 1e-3))
print("exact:", bool((exact - true).abs().max() < 1e-5))
