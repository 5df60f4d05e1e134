"""Coordinates of every pixel: by rows and columns, as pairs, from -1 to 1."""

import torch

H, W = 2, 3
rows, columns = torch.meshgrid(
    torch.arange(H), torch.arange(W), indexing="ij"
)  # (H, W) each
pairs = torch.stack([columns, rows], dim=-1)  # (H, W, 2): x, y
product = torch.cartesian_prod(torch.arange(H), torch.arange(W))  # (H*W, 2)
y, x = torch.linspace(-1, 1, H)[:, None], torch.linspace(-1, 1, W)  # no grid
distance = (x**2 + y**2).sqrt()  # (H, W), by broadcasting

print(rows.tolist(), columns.tolist())
print(pairs[1, 2].tolist(), product[-1].tolist())
print(distance)
