"""Print what decides whether CUDA works, and a verdict."""

import os
import sys

import torch

VERDICTS = {  # a part of the error: what to do
    "not compiled with CUDA": "a CPU build: reinstall torch",
    "no NVIDIA driver": "install the driver, or docker run --gpus all",
    "driver on your system is too old": "update the driver",
    "No CUDA GPUs": "unset CUDA_VISIBLE_DEVICES, or ask for a GPU",
    "no kernel image": "take a build with code for this GPU",
}
print("Python:", sys.executable)  # yours?
print("torch:", torch.__version__)  # +cpu?
print("CUDA_VISIBLE_DEVICES:", os.environ.get("CUDA_VISIBLE_DEVICES"))
try:
    torch.ones(1, device="cuda").item()  # why
    verdict = "CUDA works"
except (AssertionError, RuntimeError) as error:
    found = [VERDICTS[part] for part in VERDICTS if part in str(error)]
    verdict = found[0] if found else str(error)
print("verdict:", verdict)
assert torch.cuda.is_available() or verdict != "CUDA works"
