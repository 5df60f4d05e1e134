"""Find and count the elements of a tensor that meet a condition."""

import torch

x = torch.tensor([[0, 7, 0], [5, 9, -3]])  # (N, D)

mask = x != 0  # or any other condition, such as x > 4
values = x[mask]  # (K,)
count = mask.sum()  # as torch.count_nonzero(x) for x != 0
places = torch.nonzero(mask)  # (K, 2): row, column
rows, columns = torch.nonzero(mask, as_tuple=True)

assert torch.equal(x[rows, columns], values)
print("values", values.tolist(), "at", places.tolist())
print(count.item(), "non-zero, zeros per row", (x == 0).sum(dim=1).tolist())
