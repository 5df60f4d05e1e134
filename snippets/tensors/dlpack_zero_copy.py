"""Share memory with NumPy, CuPy or JAX by DLPack, without a copy."""

import numpy as np
import torch

array = np.zeros(4, dtype=np.float32)  # or an array of CuPy or JAX

x = torch.from_dlpack(array)  # the same memory, on the same device
back = np.from_dlpack(x.detach())  # cupy.from_dlpack, jax.dlpack.from_dlpack
own = torch.from_dlpack(array).clone()  # memory of its own

x += 1  # all that share the memory see it
print("array", array, "back", back, "own", own.tolist())
