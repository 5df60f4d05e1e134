"""Take rows, columns, ranges and the last element of a tensor."""

import torch

x = torch.arange(24).reshape(2, 3, 4)  # (B, T, D)

first = x[0]  # (T, D): one index takes its dimension away
last = x[:, -1]  # (B, D): the last step; padded sequences: see gather
first_two = x[:, :2]  # (B, 2, D): steps 0 and 1, without 2
columns = x[..., [0, 3]]  # (B, T, 2): 0 and 3; ... is all dimensions before
kept = x[:, 1:2]  # (B, 1, D): a range keeps its dimension
every_other = x[:, ::2]  # (B, 2, D); backwards: x.flip(1), not ::-1

x[0, 0] = -1  # in place: views of x change, copies do not
print(first_two[0, 0].tolist(), columns[0, 0].tolist())
for part in (first, last, first_two, columns, kept, every_other):
    print(tuple(part.shape), part.flatten()[:4].tolist())
