"""Print what a tensor is, next to the line that fails."""

import torch

x = torch.zeros(8, 3, 4, 5)  # (N, C, H, W)

print(x.shape, x.dtype, x.device)
print(x.ndim, x.numel(), x.requires_grad)  # dimensions, elements
print(x.stride(), x.is_contiguous())  # the order in memory

N, C, H, W = x.shape  # a tuple: unpack, slice, compare
assert x.size(1) == x.shape[1] == C

# The same shape in another order: the channels of a pixel lie together.
pixels = x.to(memory_format=torch.channels_last)
print(pixels.shape == x.shape, pixels.stride(), pixels.is_contiguous())
