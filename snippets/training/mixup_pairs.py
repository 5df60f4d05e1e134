"""Look at what mixup shows the network: two images and their blends."""

import matplotlib.pyplot as plt
import torch

grid = torch.linspace(-1, 1, 40)
rows, columns = torch.meshgrid(grid, grid, indexing="ij")
disc = (columns**2 + rows**2 < 0.5).float()  # (H, W), class 0
bars = (torch.sin(12 * columns) > 0).float()  # class 1

shares = [1.0, 0.8, 0.5, 0.2, 0.0]
fig, axes = plt.subplots(1, 5, figsize=(4.8, 1.5))
for ax, lam in zip(axes, shares, strict=True):
    mixed = lam * disc + (1 - lam) * bars
    ax.imshow(mixed.numpy(), cmap="gray", vmin=0, vmax=1)
    ax.set_title(f"λ = {lam}")
    ax.set_xlabel(f"{lam} disc\n{1 - lam:.1f} bars")
    ax.set_xticks([])
    ax.set_yticks([])
fig.savefig("mixup_pairs.svg")
assert set(mixed.unique().tolist()) == {0, 1}  # λ = 0: the bars alone
