"""Find out whether CUDA can be used and, if it cannot, why."""

import sys

import torch

print("Python:", sys.executable)  # that of your environment?
print("torch:", torch.__version__, "for CUDA", torch.version.cuda)
print("available:", torch.cuda.is_available())  # never says why
try:
    result = torch.ones(2, device="cuda").sum().item()  # computes there
except (AssertionError, RuntimeError) as error:
    result = error  # says why it does not work
print("two ones on the GPU:", result)
