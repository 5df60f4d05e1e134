"""A sparse matrix times a dense one, with a gradient for the dense one."""

import torch

row = torch.tensor([0, 0, 1, 2])  # (nnz,)
col = torch.tensor([1, 1, 0, 3])  # (nnz,); the place (0, 1) is there twice
value = torch.tensor([1.0, 2.0, 4.0, 5.0])  # (nnz,)
size = (3, 4)  # (rows, columns)
x = torch.ones(4, 2, requires_grad=True)  # (columns, D)

index = torch.stack([row, col])  # (2, nnz)
A = torch.sparse_coo_tensor(index, value, size, check_invariants=True)
A = A.coalesce()  # sorted; what is at the same place is added
y = A @ x  # (rows, D), dense; the gradient reaches x

y.sum().backward()
print(A)
print("y", y.tolist(), "gradient of x", x.grad.tolist())
