"""Select and replace elements with a boolean mask, or choose with where."""

import torch

x = torch.tensor([[1.0, -2.0, 3.0], [-4.0, 5.0, 9.0]])  # (N, D)

mask = (x > 0) & (x < 6)  # also | and ~; each condition in brackets
values = x[mask]  # (K,): a copy, row by row
kept = torch.where(mask, x, 0)  # elsewhere 0, or a second tensor

rows = x[x[:, 0] > 0]  # whole rows
scores = x.masked_fill(~mask, float("-inf"))  # for a softmax
clipped = x.clone()
clipped[x < 0] = 0  # in place

print("values", values.tolist())
print("kept", kept.tolist())
print("rows", rows.tolist(), "clipped", clipped.tolist())
print("share of the masked", scores.softmax(1)[~mask].tolist())
