"""Print what decides whether CUDA works, and a verdict."""

import os
import sys

import torch

print("Python:", sys.executable)  # that of your environment?
print("torch:", torch.__version__, "for CUDA", torch.version.cuda)
print("CUDA_VISIBLE_DEVICES:", os.environ.get("CUDA_VISIBLE_DEVICES"))
try:
    result = torch.ones(1, device="cuda").item()
except (AssertionError, RuntimeError) as error:
    result = error  # says why
print("one on the GPU:", result)
VERDICTS = {  # a part of the error: what to do
    "not compiled with CUDA": "a CPU build: reinstall torch",
    "no NVIDIA driver": "install the driver, or docker run --gpus all",
    "driver on your system is too old": "update the driver",
    "No CUDA GPUs": "unset CUDA_VISIBLE_DEVICES, or ask for a GPU",
    "no kernel image": "take a build with code for this GPU",
}
found = [VERDICTS[part] for part in VERDICTS if part in str(result)]
print("verdict:", *found or ["see the line above"])
assert torch.cuda.is_available() or result != 1
