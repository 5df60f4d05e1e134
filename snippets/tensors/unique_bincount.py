"""Count values: the distinct ones, those of each class, those in each bin."""

import torch

y = torch.tensor([2, 0, 2, 5, 2])  # (N,)
C = 8  # yours: the number of classes

values, counts = y.unique(return_counts=True)  # (K,) each, sorted
common = values[counts.argmax()]  # the most frequent value
per_class = torch.bincount(y, minlength=C)  # (C,): 0 for absent classes

price = torch.tensor([1.0, 4.0, 2.0, 7.0, 3.0])  # (N,)
values, inverse = y.unique(return_inverse=True)  # values[inverse] is y
mean = torch.bincount(inverse, weights=price) / counts  # (K,): by value of y

x = torch.tensor([0.1, 0.4, 0.45, 0.9])
bins = torch.histc(x, bins=4, min=0, max=1)  # (4,): of equal width

print("values", values.tolist(), "counts", counts.tolist())
print("per class", per_class.tolist(), "most frequent", common.item())
print("mean price", mean.tolist())
print("bins", bins.tolist())
