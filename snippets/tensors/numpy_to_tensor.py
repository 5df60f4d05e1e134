"""Convert a NumPy array to a tensor that shares its memory, or a copy."""

import numpy as np
import torch

array = np.arange(6.0).reshape(2, 3)  # yours: numbers, often float64

x = torch.from_numpy(array).float()  # float32, for layers; labels: .long()
shared = torch.from_numpy(array)  # no copy: a change to one changes both
own = torch.tensor(array)  # a copy, of the same dtype
flipped = torch.from_numpy(array[::-1].copy())  # a flipped view needs it

array[0, 0] = 9.0  # changes the tensor that shares the memory
print("shared", shared[0, 0].item(), "own", own[0, 0].item())
print("flipped", flipped[0].tolist(), "x", x.dtype)
