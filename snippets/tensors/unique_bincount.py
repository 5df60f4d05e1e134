"""Count values: the distinct ones, those of each class, those in each bin."""

import torch

y = torch.tensor([2, 0, 2, 5, 2])  # (N,)

values, inverse, counts = y.unique(return_inverse=True, return_counts=True)
per_class = torch.bincount(y, minlength=8)  # (8,): 0 for absent classes
common = values[counts.argmax()]  # the most frequent value

price = torch.tensor([1.0, 4.0, 2.0, 7.0, 3.0])  # (N,)
mean = torch.bincount(inverse, weights=price) / counts  # (K,): by value of y

x = torch.tensor([0.1, 0.4, 0.45, 0.9])
bins = torch.histc(x, bins=4, min=0, max=1)  # (4,): of equal width

assert torch.equal(values[inverse], y)  # (N,): the place of each in values
print("values", values.tolist(), "counts", counts.tolist())
print("per class", per_class.tolist(), "most frequent", common.item())
print("mean price", mean.tolist())
print("bins", bins.tolist())
