"""Choose the device and the dtype that new tensors get by default."""

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

with torch.device(device):  # in this block
    model, x = nn.Linear(3, 2), torch.ones(4, 3)
assert model(x).device == x.device

torch.set_default_device(device)  # new tensors and modules are made there
torch.set_default_dtype(torch.float64)  # new floats; leave out for float32
y, labels = torch.ones(3), torch.tensor([0, 1, 1])

torch.set_default_device(None)  # the CPU again
torch.set_default_dtype(torch.float32)  # as usual again

print("model and x:", x.dtype, "on", x.device.type)
print("y:", y.dtype, "on", y.device.type, "- labels:", labels.dtype)
