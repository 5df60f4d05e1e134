"""Name the dimensions of tensors, and say which to multiply and sum."""

import torch

torch.manual_seed(0)
a, b = torch.randn(4, 2, 3), torch.randn(4, 3, 5)  # (B, I, J), (B, J, K)
q, k = torch.randn(2, 8, 6, 16), torch.randn(2, 8, 9, 16)  # (B, nh, T, hs)
u, v, w = torch.randn(4, 3), torch.randn(4, 5), torch.randn(7, 3, 5)

product = torch.einsum("bij,bjk->bik", a, b)  # j is summed
scores = torch.einsum("bhqd,bhkd->bhqk", q, k)  # attention, no transpose
rows = torch.einsum("bd,bd->b", u, 2 * u)  # dot product of each row
outer = torch.einsum("bi,bj->bij", u, v)  # outer product, per sample
bilinear = torch.einsum("bi,oij,bj->bo", u, w, v)  # as nn.Bilinear
diagonal = torch.einsum("bii->bi", product[:, :, :2])

torch.testing.assert_close(product, a @ b)
torch.testing.assert_close(scores, q @ k.transpose(-2, -1))
print("scores", tuple(scores.shape), "bilinear", tuple(bilinear.shape))
