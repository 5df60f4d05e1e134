"""A sparse matrix times a dense one, and the gradients of both."""

import torch

row = torch.tensor([0, 0, 1, 2])
col = torch.tensor([1, 1, 0, 3])  # the place (0, 1) is there twice
value = torch.tensor([1.0, 2.0, 4.0, 5.0])  # (nnz,)
x = torch.ones(4, 2, requires_grad=True)  # (columns, D)

size = (3, 4)  # (rows, columns)
index = torch.stack([row, col])  # (2, nnz)
with torch.sparse.check_sparse_tensor_invariants():  # refuse bad indices
    A = torch.sparse_coo_tensor(index, value, size).coalesce()
y = A @ x  # (rows, D), dense; the gradient reaches x

# The same for values that are trained: (nnz, D) numbers, never rows * columns.
weight = value.clone().requires_grad_()  # trained
z = x.new_zeros(size[0], x.shape[1])  # (rows, D)
z = z.index_add(0, row, weight[:, None] * x[col])

z.sum().backward()
print(A)
print("y", y.tolist(), "gradient of weight", weight.grad.tolist())
assert torch.equal(y, z)
