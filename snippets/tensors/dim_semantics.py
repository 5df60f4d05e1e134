"""Name the dimension that a sum, a mean or a softmax runs along."""

import torch

x = torch.tensor([[1.0, 2, 3], [4, 5, 6]])  # (B, C): 2 rows, 3 columns

per_column = x.sum(dim=0)  # (C,): dim 0 disappears
per_row = x.sum(dim=1)  # (B,): dim 1 disappears
share = x / x.sum(dim=1, keepdim=True)  # (B, C) / (B, 1)
p = x.softmax(dim=1)  # (B, C): each row sums to 1

images = torch.rand(8, 3, 4, 4)  # (B, C, H, W)
mean = images.mean(dim=(0, 2, 3))  # (C,): one mean per channel

print("sum(0)", per_column.tolist(), "sum(1)", per_row.tolist())
print("softmax(1), sum of each row", [round(s, 3) for s in p.sum(1).tolist()])
print("a batch of one, softmax(0)", x[:1].softmax(dim=0).tolist())
