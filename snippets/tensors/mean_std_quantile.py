"""Describe the numbers of each column: mean, spread, median, quantiles."""

import torch

x = torch.tensor(
    [[1.0, 10.0], [2.0, 20.0], [4.0, 30.0], [9.0, 100.0]]
)  # (N, D)

mean = x.mean(dim=0)  # (D,): of each column; dim=1: of each row
std = x.std(dim=0, correction=0)  # as NumPy's; without it, divided by N - 1
median = x.quantile(0.5, dim=0)  # between the two in the middle
low, high = x.quantile(x.new_tensor([0.05, 0.95]), dim=0)  # (D,) each

print("mean", mean.tolist(), "median", median.tolist())
print("std", [round(s, 2) for s in std.tolist()])
print("torch.median", x.median(dim=0).values.tolist())  # the lower of the two
