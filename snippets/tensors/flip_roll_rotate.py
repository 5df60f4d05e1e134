"""Mirror, shift and turn images."""

import torch

x = torch.arange(6).reshape(1, 1, 2, 3)  # (B, C, H, W)

mirrored = x.flip(-1)  # left-right; -2: upside down
turned = x.rot90(1, (-2, -1))  # a quarter, counterclockwise; -1: clockwise
shifted = x.roll(1, dims=-1)  # what leaves on the right enters on the left

for result in (x, mirrored, turned, shifted):
    print(result[0, 0].tolist())
