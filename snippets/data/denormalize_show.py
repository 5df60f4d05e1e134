"""Undo Normalize, and show or save a batch as one picture."""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from torchvision.transforms import v2
from torchvision.utils import make_grid, save_image

mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]  # as in training
original = torch.rand(8, 3, 32, 32)
batch = v2.Normalize(mean, std)(original)  # what the loader gives

shape = (3, 1, 1)  # one value per channel
m, s = torch.tensor(mean).view(shape), torch.tensor(std).view(shape)
images = batch.cpu() * s + m
grid = make_grid(images.clamp(0, 1), nrow=4)  # (3, H, W)

folder = Path(tempfile.mkdtemp())
save_image(grid, folder / "grid.png")
plt.imshow(grid.permute(1, 2, 0).numpy())  # (H, W, 3)
plt.axis("off")
plt.savefig(folder / "figure.png")  # in a notebook: plt.show()
print(tuple(grid.shape), torch.allclose(images, original, atol=1e-5))
