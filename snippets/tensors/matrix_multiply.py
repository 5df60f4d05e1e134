"""Multiply matrices, batches of matrices, and tensors element by element."""

import torch

torch.manual_seed(0)
x = torch.randn(2, 3, 4)  # (B, T, N)
weight = torch.randn(4, 5)  # (N, M)
scale = torch.rand(5)  # (M,)

y = x @ weight  # (B, T, M)
scaled = y * scale  # element by element
scores = x @ x.mT  # (B, T, T)

# On square matrices both run, and only @ is the matrix product.
a = torch.tensor([[1, 2], [3, 4]])
print("a @ a =", (a @ a).tolist())
print("a * a =", (a * a).tolist())
