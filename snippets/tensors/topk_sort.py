"""Take the k largest values of each row, sort them, or sort whole rows."""

import torch

x = torch.tensor([[0.25, 0.75, 0.0, 0.5], [0.5, 0.125, 1.0, 0.25]])  # (B, C)
k = 2  # yours: how many of each row

values, indices = x.topk(k, dim=1)  # (B, k) each, largest first
ordered, order = x.sort(dim=1, descending=True)  # (B, C) each
rows = x[x[:, 1].argsort()]  # whole rows, by column 1
mask = torch.zeros_like(x, dtype=torch.bool).scatter(1, indices, True)
kept = x.where(mask, 0)  # the k largest of each row, 0 elsewhere

print("topk", values.tolist(), indices.tolist())
print("rows", rows.tolist())
print("kept", kept.tolist())
