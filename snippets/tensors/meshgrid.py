"""Coordinates of every pixel: rows and columns, pairs, and without a grid."""

import torch

H, W = 2, 3
ys, xs = torch.arange(H), torch.arange(W)
rows, columns = torch.meshgrid(ys, xs, indexing="ij")  # (H, W) each
pairs = torch.stack([columns, rows], dim=-1)  # (H, W, 2): x, y
product = torch.cartesian_prod(ys, xs)  # (H*W, 2): y, x
distance = (ys[:, None] ** 2 + xs**2).sqrt()  # (H, W): needs no grid

print(rows.tolist(), columns.tolist())
print(pairs[1, 2].tolist(), product[-1].tolist())
print(distance)
