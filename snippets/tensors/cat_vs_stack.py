"""Join tensors: cat along a dimension they have, stack along a new one."""

import torch

a = torch.zeros(10, 5)  # (10, 5)
b = torch.ones(10, 5)  # (10, 5)
c = torch.rand(10, 5)  # (10, 5)

rows = torch.cat([a, b, c])  # (30, 5)
columns = torch.cat([a, b, c], dim=1)  # (10, 15)
batch = torch.stack([a, b, c])  # (3, 10, 5)

# stack is cat of tensors that got a dimension of size 1.
assert torch.equal(batch, torch.cat([a[None], b[None], c[None]]))
print("cat", tuple(rows.shape), tuple(columns.shape))
print("stack", tuple(batch.shape))
