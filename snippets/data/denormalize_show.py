"""Undo Normalize, and show a batch as one picture."""

import matplotlib.pyplot as plt
import torch
from torchvision.transforms import v2
from torchvision.utils import make_grid

mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
original = torch.rand(8, 3, 32, 32)
batch = v2.Normalize(mean, std)(original)  # (B, 3, H, W)

scale = torch.tensor(std).view(-1, 1, 1)  # one value per channel
images = batch.cpu() * scale + torch.tensor(mean).view(-1, 1, 1)
grid = make_grid(images.clamp(0, 1), nrow=4)  # (3, H, W)
plt.imshow(grid.permute(1, 2, 0).numpy())  # (H, W, 3)
plt.axis("off")
plt.savefig("images.png")
plt.show()  # opens a window, where there is a screen

print(tuple(grid.shape), torch.allclose(images, original, atol=1e-5))
