"""Cut a tensor into pieces by size, by number or row by row."""

import torch

x = torch.arange(20).reshape(10, 2)  # (N, D)

pieces = x.split(4)  # of SIZE 4, the rest last: 4, 4, 2 rows
a, b, c = x.split([5, 3, len(x) - 8])  # sizes that add up to N
parts = x.chunk(4)  # at MOST 4, each ceil(N / 4): 3, 3, 3, 1
even = x.tensor_split(4)  # EXACTLY 4, as equal as can be: 3, 3, 2, 2
cut = x.tensor_split([3, 8])  # before rows 3 and 8: 3, 5, 2
rows = x.unbind(0)  # N tensors (D,), without that dimension
left, right = x.chunk(2, dim=1)  # two halves of the columns

for whole in (pieces, (a, b, c), parts, even, cut):
    assert torch.equal(torch.cat(whole), x)  # the way back
    print([len(piece) for piece in whole])
assert torch.equal(torch.stack(rows), x)
assert torch.equal(torch.cat([left, right], dim=1), x)
