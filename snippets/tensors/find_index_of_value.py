"""Find where a tensor holds a value: everywhere, first, or once per row."""

import torch

x = torch.tensor([[5, 102, 0, 102], [8, 9, 3, 4]])  # (B, T) or (T,)
value = 102  # yours: a number

hit = x == value  # one of several: torch.isin(x, values)
places = hit.nonzero().squeeze(1)  # all: (K, 2) row, column; of (T,): (K,)
first = torch.where(hit.any(-1), hit.int().argmax(-1), -1)  # -1: not there

known = torch.isin(x, torch.tensor([8, 102]))  # is it one of these?
table = torch.tensor([[1, 2], [3, 4], [5, 6]])
row = (table == torch.tensor([3, 4])).all(dim=1).nonzero()  # (K, 1)

print("places", places.tolist())
print("first of each row", first.tolist())
print("known", known.int().tolist(), "row", row.tolist())
