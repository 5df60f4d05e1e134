"""Find the accelerator, whoever made it, and compute on it."""

import torch
from torch import nn

# A plug-in such as torch_npu is loaded by "import torch", or import it here.
gpu = torch.accelerator.current_accelerator(check_available=True)
device = gpu or torch.device("cpu")
model = nn.Linear(4, 2).to(device)
y = model(torch.ones(3, 4, device=device))
assert y.device.type == device.type
print("computed:", tuple(y.shape))

try:
    torch.device("npu")  # Ascend: not known without its plug-in
except RuntimeError as error:
    print("error:", str(error).split(": ")[1], "is not known")
