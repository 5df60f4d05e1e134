"""See where grid_sample reads the pixels of its output."""

import matplotlib.pyplot as plt
import torch
from torch.nn import functional as F

x = torch.full((1, 1, 16, 16), 0.3)  # (N, C, H, W)
x[..., 2:14, 4:6] = x[..., 2:4, 4:12] = x[..., 7:9, 4:10] = 1  # the letter F
theta = torch.tensor([[[0.87, -0.5, 0], [0.5, 0.87, 0]]])  # 30 degrees
grid = F.affine_grid(theta, x.shape, align_corners=False)  # (N, H, W, 2)
output = F.grid_sample(x, grid, align_corners=False)

places = (grid[0] + 1) * 8 - 0.5  # -1 … 1 as numbers of pixels
grey = plt.get_cmap("gray", 16)
fig, axes = plt.subplots(1, 2, figsize=(4.2, 2.1), sharex=True, sharey=True)
panels = {"input": x, "output": output}
for ax, (title, image) in zip(axes, panels.items(), strict=True):
    ax.imshow(image[0, 0].numpy(), cmap=grey, vmin=0, vmax=1)
    ax.set(title=title, xticks=[], yticks=[], frame_on=False)
axes[0].plot(*places[::3, ::3].flatten(0, 1).T, ".", color="#3b82d6")
axes[0].plot(*places[0, 0], "o", color="#d4652a")
axes[1].plot(0, 0, "o", color="#d4652a")  # the value that was read there
axes[0].set(xlim=(-4.5, 19.5), ylim=(19.5, -4.5))
fig.savefig("show_grid.svg")
assert output[0, 0, 0, 0] == 0  # it was read outside
