"""Raise the three errors, then convert without them."""

import numpy as np
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
on_gpu = torch.ones(2, device="meta")  # stands for a GPU's tensor
half = x.detach().bfloat16()
for tensor in (x, on_gpu, half):
    try:
        np.asarray(tensor)  # what matplotlib and sklearn do
    except (RuntimeError, TypeError) as error:
        print(error)

array = x.numpy(force=True)  # with a gradient, on a GPU
wide = half.float().numpy(force=True)  # bfloat16

losses = [x.sum(), x.prod()]  # better: append(loss.item())
curve = torch.stack(losses).numpy(force=True)  # not np.array

scale = np.array([10.0, 20.0], dtype=np.float32)
loss = (x * torch.from_numpy(scale)).sum()  # not x * scale
loss.backward()  # a loss stays in torch
print(array, wide, curve, x.grad)
