"""Find NaN and Inf in a tensor, and compute without them."""

import torch

x = torch.tensor([[1.0, torch.nan, 3.0], [4.0, 5.0, torch.inf]])

print("all finite:", x.isfinite().all().item())
print("NaN:", x.isnan().sum().item(), "Inf:", x.isinf().sum().item())
print("first at:", (~x.isfinite()).nonzero()[0].tolist())  # row, column

mask = x.isfinite()
mean = torch.where(mask, x, 0).sum(1) / mask.sum(1).clamp_min(1)  # per row
print("mean of the others:", mean.tolist())
rows = x[mask.all(1)]  # the rows without any
clean = x.nan_to_num(nan=0.0, posinf=1e4, neginf=-1e4)
print("rows left:", len(rows), "replaced:", clean.flatten().tolist())
