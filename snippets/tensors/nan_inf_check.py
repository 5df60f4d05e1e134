"""Find NaN and Inf in a tensor, and compute without them."""

import torch

x = torch.tensor([[1.0, torch.nan, 3.0], [4.0, 5.0, torch.inf]])  # (N, D)

bad = ~x.isfinite()  # NaN, Inf or -Inf
if bad.any():
    print(f"{bad.sum()} bad values, first at {bad.nonzero()[0].tolist()}")
clean = x.masked_fill(bad, 0)

# Leave them out of a mean instead of replacing them.
count = (~bad).sum(1).clamp_min(1)  # 1, so that an empty row gets 0, not NaN
print("mean of each row:", (clean.sum(1) / count).tolist())
print("rows without any:", x[~bad.any(1)].tolist())
