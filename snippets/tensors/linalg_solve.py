"""Solve A x = b, fit by least squares, and approximate by SVD."""

import torch

torch.manual_seed(0)
A = torch.randn(4, 4)  # (n, n)
b = torch.randn(4)  # (n,)
X = torch.randn(100, 3)  # (N, D): more equations than unknowns
y = torch.randn(100)  # (N,)

x = torch.linalg.solve(A, b)  # A @ x = b; A is square
w = torch.linalg.lstsq(X, y).solution  # smallest |X @ w - y|

M = torch.randn(6, 4)
U, S, Vh = torch.linalg.svd(M, full_matrices=False)
M2 = U[:, :2] * S[:2] @ Vh[:2]  # the nearest of rank 2
values, vectors = torch.linalg.eigh(X.T @ X)  # symmetric; ascending

torch.testing.assert_close(A @ x, b, rtol=1e-4, atol=1e-4)
residual = y - X @ w  # at a right angle to each column of X
torch.testing.assert_close(X.T @ residual, torch.zeros(3), rtol=0, atol=1e-3)
print("rank", torch.linalg.matrix_rank(M2).item())
