"""Name the dimensions of tensors, and say which to multiply and sum."""

import torch

torch.manual_seed(0)
a = torch.randn(4, 2, 3)  # (B, I, J)
b = torch.randn(4, 3, 5)  # (B, J, K)
q = torch.randn(2, 8, 6, 16)  # (B, nh, Q, hs)
k = torch.randn(2, 8, 9, 16)  # (B, nh, K, hs)
u, t = torch.randn(2, 4, 3)  # (B, D)
v = torch.randn(4, 5)  # (B, E)

product = torch.einsum("bij,bjk->bik", a, b)  # j is summed
scores = torch.einsum("bhqd,bhkd->bhqk", q, k)  # attention, no transpose
rows = torch.einsum("bd,bd->b", u, t)  # dot product of each row
outer = torch.einsum("bi,bj->bij", u, v)  # outer product, per sample

w = torch.randn(7, 3, 5)
bilinear = torch.einsum("bi,oij,bj->bo", u, w, v)  # as nn.Bilinear
diagonal = torch.einsum("bii->bi", product[:, :, :2])
torch.testing.assert_close(product, a @ b)
torch.testing.assert_close(scores, q @ k.mT)
print("scores", tuple(scores.shape), "bilinear", tuple(bilinear.shape))
