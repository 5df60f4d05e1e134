"""Select and replace elements with a boolean mask, or choose with where."""

import torch

x = torch.tensor([[1.0, -2.0, 3.0], [-4.0, 5.0, 9.0]])

mask = (x > 0) & (x < 6)  # & | ~ and brackets, never: and or not
values = x[mask]  # (K,): a copy, row by row
kept = torch.where(mask, x, 0)  # the shape of x, 0 elsewhere
scores = x.masked_fill(~mask, float("-inf"))  # for a softmax
rows = x[x[:, 0] > 0]  # whole rows

clipped = x.clone()
clipped[x < 0] = 0  # in place

print("values", values.tolist())
print("kept", kept.tolist())
print(
    "softmax",
    [[round(p, 2) for p in row] for row in scores.softmax(1).tolist()],
)
