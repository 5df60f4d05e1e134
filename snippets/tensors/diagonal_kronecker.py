"""Take, set and build diagonals of a batch; blocks and Kronecker products."""

import torch

A = torch.arange(1.0, 19).reshape(2, 3, 3)  # (B, N, N)
d = torch.tensor([[1.0, 2, 3], [4, 5, 6]])  # (B, N)

diagonal = A.diagonal(dim1=-2, dim2=-1)  # (B, N), a view; default: dims 0, 1
trace = diagonal.sum(-1)  # (B,)
upper = A.triu(1)  # above the diagonal, 0 elsewhere; below: A.tril(-1)
D = d.diag_embed()  # (B, N, N), d on the diagonal
S = A.diagonal_scatter(d, dim1=-2, dim2=-1)  # a copy of A, d on its diagonal
blocks = torch.block_diag(*A)  # (B * N, B * N)
K = torch.kron(A[0], D[0])  # (N * N, N * N): each number of A[0] times D[0]

for result in (diagonal, trace, upper[0], D[0], S[0]):
    print(result)
print(blocks.shape, K.shape)
