"""Turn a tensor into a NumPy array: on a GPU, with grad, bfloat16."""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
half = x.bfloat16()  # yours: a bfloat16 tensor

array = x.numpy(force=True)  # any device, grad or not
kept = x.numpy(force=True).copy()  # memory of its own
wide = half.float().numpy(force=True)  # from bfloat16

same = x.detach().cpu().numpy()  # what force=True does, step by step
array[0] = 5.0  # on the CPU, x and array share their memory
print("x", x.tolist(), "same", same, "kept", kept)
print("wide", wide, wide.dtype)
