"""Find where a tensor holds a value: everywhere, first, or once per row."""

import torch

x = torch.tensor([4, 7, 2, 7])

places = (x == 7).nonzero().squeeze(1)  # (K,): all of them, maybe none
first = (x == 7).int().argmax()  # the first one; 0 if there is none
known = torch.isin(x, torch.tensor([2, 4]))  # (N,) bool: is it one of these?

ids = torch.tensor([[5, 102, 0, 0], [8, 9, 3, 102]])  # (B, T)
end = (ids == 102).int().argmax(dim=1)  # (B,): the first in each row

table = torch.tensor([[1, 2], [3, 4], [5, 6]])
row = (table == torch.tensor([3, 4])).all(dim=1).nonzero()  # (K, 1)

print("places", places.tolist(), "first", first.item())
print("known", known.tolist())
print("end of each row", end.tolist())
print("row", row.tolist())
