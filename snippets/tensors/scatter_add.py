"""Add up, average or take the largest of the rows of each group."""

import torch

x = torch.tensor([[1.0, 8.0], [5.0, 2.0], [3.0, 4.0]])  # (N, D)
group = torch.tensor([0, 2, 0])  # (N,): the group of each row
G = 4  # yours: how many groups there are

total = x.new_zeros(G, x.shape[1]).index_add(0, group, x)  # (G, D)
count = torch.bincount(group, minlength=G)  # (G,)
mean = total / count.clamp(min=1)[:, None]  # 0 where a group is empty

largest = torch.zeros_like(total).scatter_reduce(
    0, group[:, None].expand_as(x), x, "amax", include_self=False
)  # scatter_* want an index of the shape of x

ids = torch.tensor([[1, 1, 3], [0, 2, 2]])  # (B, T)
hist = ids.new_zeros(2, 4).scatter_add(1, ids, torch.ones_like(ids))

print("total", total.tolist())
print("mean", mean.tolist())
print("largest", largest.tolist())
print("count in each row of ids", hist.tolist())
