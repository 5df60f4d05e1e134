"""Let PyTorch raise an error where the code waits for the GPU."""

import warnings

import torch

warnings.filterwarnings("ignore", "Synchronization debug mode")  # a prototype
x = torch.randn(1000, device="cuda")
waits = []
torch.cuda.set_sync_debug_mode("error")  # "warn" only warns
for name, code in {
    "item": lambda: x.sum().item(),
    "mask": lambda: x[x > 0],
    "fill": lambda: x.masked_fill(x < 0, 0),
}.items():
    try:
        code()
    except RuntimeError:  # called a synchronizing CUDA operation
        waits.append(name)
torch.cuda.set_sync_debug_mode("default")
assert waits == ["item", "mask"]
