"""Replace a Python loop over a tensor by one call: three typical loops."""

import torch

torch.manual_seed(0)
x = torch.randn(500, 8)  # (N, D)
y = torch.randint(10, (500,))  # the class of each row
v, a, b = x[:, 0], x[:30], x[30:50]

looped = torch.stack([s if s > 0 else 0.1 * s for s in v])
leaky = torch.where(v > 0, v, 0.1 * v)  # an if for each number
torch.testing.assert_close(leaky, looped)

looped = torch.stack([(p - q).norm() for p in a for q in b])
distances = (a[:, None] - b).norm(dim=2)  # (30, 20): each p with each q
torch.testing.assert_close(distances.flatten(), looped)

looped = torch.zeros(10, 8)
for row, label in zip(x, y, strict=True):
    looped[label] += row
sums = torch.zeros(10, 8).index_add_(0, y, x)  # a sum for each class
torch.testing.assert_close(sums, looped)
