"""Create tensors of zeros, of one value, of steps, or of random numbers."""

import torch

zeros = torch.zeros(2, 3)  # float32; also ones, rand, randn
sevens = torch.full((2, 3), 7.0)
steps = torch.arange(0, 10, 2)  # 0, 2, ..., 8: without the end
points = torch.linspace(0, 1, steps=5)  # 0, 0.25, ..., 1: with it
dice = torch.randint(1, 7, (2, 3))  # 1 to 6
like = torch.zeros_like(dice)  # shape, dtype and device of dice

other = dice.new_zeros(4)  # its dtype and device, another shape
identity = torch.eye(3)
order = torch.randperm(5)  # 0 to 4, shuffled
device = "cpu"  # or "cuda": create where the tensor is used, do not copy
there = torch.zeros(2, 3, device=device, dtype=torch.float16)

for made in (zeros, sevens, steps, points, dice, like, other, there):
    print(tuple(made.shape), made.dtype)
