"""Find the accelerator, whoever made it, and compute on it."""

import torch
from torch import nn

model, x = nn.Linear(4, 2), torch.ones(3, 4)

# A plug-in such as torch_npu is loaded by "import torch", or import it here.
gpu = torch.accelerator.current_accelerator(check_available=True)
print("found:", gpu)  # None: the driver or the plug-in is missing
device = gpu or torch.device("cpu")

y = model.to(device)(x.to(device))
assert y.device.type == device.type
try:
    torch.device("npu")  # Ascend: not known without its plug-in
except RuntimeError as error:
    print("error:", str(error).split(": ")[1], "is not known")
