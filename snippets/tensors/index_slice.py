"""Take rows, columns, ranges and the last element of a tensor."""

import torch

x = torch.arange(20).reshape(4, 5)  # (N, D)

row = x[0]  # (D,): one index takes its dimension away; -1: the last row
column = x[:, 1]  # (N,)
part = x[1:3, :2]  # (2, 2): rows 1 and 2, columns 0 and 1; ends are left out
columns = x[:, [0, 3]]  # (N, 2): columns 0 and 3; rows: x[[0, 3]]
kept = x[:, 1:2]  # (N, 1): a range keeps its dimension
every_other = x[::2]  # rows 0, 2, ...; backwards: x.flip(0), not ::-1

sequences = torch.arange(24).reshape(2, 3, 4)  # (B, T, D)
last = sequences[:, -1]  # (B, D): the last step; padded sequences: see gather
feature = sequences[..., 0]  # (B, T): ... is all dimensions before

x[1, 0] = -1  # in place: views of x change, copies do not
print(part.tolist(), columns.tolist())
for taken in (row, column, kept, every_other, last, feature):
    print(tuple(taken.shape), taken.flatten()[:4].tolist())
