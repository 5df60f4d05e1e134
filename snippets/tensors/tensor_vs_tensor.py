"""Make a tensor from data: copied, shared, or of a given size."""

import numpy as np
import torch

numbers, array = [1, 2, 3], np.zeros(3)

x = torch.tensor(numbers, dtype=torch.float32)  # copies; name the dtype

shared = torch.as_tensor(array)  # the memory of the array
copied = torch.tensor(array)  # its own memory
own = x.detach().clone()
zeros = torch.zeros(3)  # torch.Tensor(3): 3 arbitrary numbers
assert isinstance(x, torch.Tensor)

array[0] = 7
print("shared", shared.tolist(), "copied", copied.tolist())
for made in (
    torch.tensor(numbers),
    torch.Tensor(numbers),
    torch.tensor([0.5]),
):
    print(made, made.dtype)
print(tuple(torch.tensor(3).shape), tuple(torch.Tensor(3).shape))
