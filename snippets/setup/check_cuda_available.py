"""Find out whether CUDA can be used and, if it cannot, why."""

import torch

print("built for CUDA:", torch.version.cuda)  # None: a CPU-only build
print("available:", torch.cuda.is_available())  # never says why
try:
    torch.ones(2, device="cuda").sum().item()  # raises, and says why
except (AssertionError, RuntimeError) as error:
    print("does not work:", error)
else:
    print("works:", torch.cuda.get_device_name())
