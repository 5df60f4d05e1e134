"""Find out whether CUDA can be used and, if it cannot, why."""

import torch

print("built for CUDA:", torch.version.cuda)  # None: a CPU-only build
print("available:", torch.cuda.is_available())  # never says why
try:
    result = torch.ones(2, device="cuda").sum().item()  # computes there
except (AssertionError, RuntimeError) as error:
    result = error  # says why it does not work
print("two ones on the GPU:", result)
