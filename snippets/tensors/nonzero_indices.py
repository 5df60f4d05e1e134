"""Find and count the elements of a tensor that meet a condition."""

import torch

x = torch.tensor([[0, 7, 0], [5, 9, -3]])
mask = x != 0  # or any other condition, such as x > 4

values = x[mask]  # (K,)
count = torch.count_nonzero(x)  # of zeros: (x == 0).sum()
where = torch.nonzero(mask)  # (K, 2): row, column
rows, columns = torch.nonzero(mask, as_tuple=True)

assert torch.equal(x[rows, columns], values)
print("values", values.tolist(), "at", where.tolist())
print(count.item(), "non-zero, zeros per row", (x == 0).sum(dim=1).tolist())
