"""Train the values of a sparse matrix without making it dense."""

import torch

row, col = torch.tensor([[0, 0, 1, 2], [1, 1, 0, 3]])  # (nnz,) each
weight = torch.tensor([1.0, 2.0, 4.0, 5.0], requires_grad=True)  # (nnz,)
x = torch.ones(4, 2)  # (columns, D)

y = x.new_zeros(3, x.shape[1])  # (rows, D)
y = y.index_add(0, row, weight[:, None] * x[col])  # nnz * D numbers

y.sum().backward()
print("y", y.tolist(), "gradient of weight", weight.grad.tolist())
