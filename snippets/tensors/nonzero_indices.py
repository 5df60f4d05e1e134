"""Find and count the elements of a tensor that meet a condition."""

import torch

x = torch.tensor([[0, 7, 0], [5, 9, -3]])  # of any shape

mask = x != 0  # or any other condition, such as x > 4
count = mask.sum()  # how many
places = torch.nonzero(mask)  # (K, x.ndim): the coordinates of each
index = torch.nonzero(mask, as_tuple=True)  # to index: x[index] is x[mask]

assert torch.equal(x[index], x[mask])
assert count == torch.count_nonzero(x)
print(count.item(), "at", places.tolist(), "values", x[index].tolist())
print("zeros per row", (x == 0).sum(dim=1).tolist())
