"""Reorder dimensions: put the channels of images first, or swap two."""

import torch

N, H, W, C = 2, 4, 5, 3
pixels = torch.arange(N * H * W * C)
images = pixels.reshape(N, H, W, C)  # (N, H, W, C)

x = images.permute(0, 3, 1, 2)  # (N, C, H, W)
same = images.movedim(-1, -3)  # also without a batch
back = x.movedim(-3, -1)  # (N, H, W, C)
swapped = x.transpose(2, 3)  # (N, C, W, H)

# No element has moved; contiguous() copies them into the new order.
print(images.stride(), "->", x.stride(), "->", x.contiguous().stride())
