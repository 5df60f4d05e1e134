"""Compare the build of torch with the GPU, and compute on the GPU once."""

import torch

print("built for CUDA", torch.version.cuda, torch.cuda.get_arch_list())
gpu = torch.cuda.is_available()  # (12, 0) below is sm_120
print("GPU:", torch.cuda.get_device_capability() if gpu else "none found")
try:
    result = torch.ones(1, device="cuda") + 1  # moving alone needs no kernel
except (AssertionError, RuntimeError) as error:
    result = error  # find its row in the table
print(result)

assert gpu or isinstance(result, Exception)  # nothing computes without a GPU
