"""Reshape, flatten and split dimensions; the elements keep their order."""

import torch

x = torch.arange(24).reshape(2, 3, 4)  # (B, T, C)
nh = 2  # yours: the parts of C, such as heads

rows = x.reshape(-1, x.shape[-1])  # (B*T, C): -1 is worked out
flat = x.flatten(1)  # (B, T*C): keeps the batch
heads = x.unflatten(2, (nh, -1))  # (B, T, nh, C/nh), then .transpose(1, 2)

shared = x.view(rows.shape)  # as reshape, but never a copy
swapped = x.transpose(1, 2)  # (2, 4, 3): no longer in this order in memory
print(swapped.reshape(2, 12)[0])  # so reshape copies
try:
    swapped.view(2, 12)  # and view cannot
except RuntimeError as error:
    print(error)
