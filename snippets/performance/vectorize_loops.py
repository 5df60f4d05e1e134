"""Replace a Python loop over a tensor by one call: three typical loops."""

import torch

torch.manual_seed(0)
x = torch.randn(500, 8)  # (N, D)
y = torch.randint(10, (500,))  # (N,), the class of each row
num_classes = 10
v, a, b = x[:, 0], x[:30], x[30:50]  # (N,) (P, D) (Q, D)

leaky = torch.where(v > 0, v, 0.1 * v)  # an if for each number
distances = (a[:, None] - b).norm(dim=2)  # (P, Q): each row with each row
sums = x.new_zeros(num_classes, x.shape[1]).index_add_(0, y, x)  # by class

looped = torch.stack([s if s > 0 else 0.1 * s for s in v])
torch.testing.assert_close(leaky, looped)

looped = torch.stack([(p - q).norm() for p in a for q in b])
torch.testing.assert_close(distances.flatten(), looped)

looped = torch.zeros(num_classes, 8)
for row, label in zip(x, y, strict=True):
    looped[label] += row
torch.testing.assert_close(sums, looped)
