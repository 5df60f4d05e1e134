"""All distances and cosines between the rows of two matrices."""

import torch
from torch.nn import functional as F

torch.manual_seed(0)
a = torch.randn(100, 3) + 100  # (N, D)
b = a[:40]  # (M, D)
k = 3  # yours: the number of neighbours

mean = b.mean(-2, keepdim=True)  # cdist rounds less near 0
dist = torch.cdist(a - mean, b - mean)  # (N, M), Euclidean
nearest = dist.topk(k, largest=False).indices  # (N, k), rows of b
cosine = F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).mT  # (N, M)

plain = torch.cdist(a, b)  # small distances far from 0 are wrong
mode = "donot_use_mm_for_euclid_dist"
exact = torch.cdist(a, b, compute_mode=mode)  # slower
true = torch.cdist(a.double(), b.double())
print("dist, off by less than 0.01:", bool((dist - true).abs().max() < 1e-2))
print("plain, off by more than 0.01:", bool((plain - true).abs().max() > 1e-2))
print("exact:", bool((exact - true).abs().max() < 1e-5))
