"""Convert to NumPy what has a gradient, is on a GPU, or is bfloat16."""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
half = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)

array = x.numpy(force=True)  # with a gradient, or on a GPU
wide = half.float().numpy(force=True)  # bfloat16

scale = torch.from_numpy(array).to(x)  # a loss stays in torch
loss = (x * scale).sum()  # not x * array
loss.backward()
print(array, wide, x.grad)
