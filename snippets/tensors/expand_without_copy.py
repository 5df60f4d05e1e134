"""Repeat a tensor along new dimensions, as a view or as a copy."""

import torch

features = torch.randn(64, 512)  # (B, C)
images = torch.randn(64, 512, 7, 7)  # (B, C, H, W)

H, W = images.shape[2:]
pixel = features[:, :, None, None]  # (B, C, 1, 1)
view = pixel.expand(-1, -1, H, W)  # only to read
copy = pixel.repeat(1, 1, H, W)  # H * W times the memory
scaled = images * pixel  # arithmetic needs neither

assert torch.equal(view, copy)
for name, tensor in {"view": view, "copy": copy}.items():
    kib = tensor.untyped_storage().nbytes() // 1024
    print(name, tuple(tensor.shape), tensor.stride(), kib, "KiB")
