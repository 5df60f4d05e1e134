"""Show which GPUs this process may use, and what torch calls them."""

import os

import torch


def visible_gpus() -> list[str]:
    """Describe the GPUs this process sees; entry i is ``cuda:i``.

    Returns:
        Name and UUID of each, the UUID as ``nvidia-smi -L`` lists it; empty
        where there is no GPU, or where all of them are hidden.

    Raises:
        RuntimeError: the driver sees GPUs, but is too old for this torch.

    Source: https://docs.nvidia.com/cuda/cuda-programming-guide, section 5.2
    """
    gpus = []
    for index in range(torch.cuda.device_count()):
        gpu = torch.cuda.get_device_properties(index)
        gpus.append(f"{gpu.name}, GPU-{gpu.uuid}")
    return gpus


if __name__ == "__main__":
    # Set before Python starts: CUDA reads it once, on its first call.
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    gpus = visible_gpus()
    if chosen is None:  # or misspelt
        print("CUDA_VISIBLE_DEVICES is not set")
    else:
        assert len(gpus) <= len(chosen.split(","))
        print(f"CUDA_VISIBLE_DEVICES={chosen}")
    for index, gpu in enumerate(gpus):
        print(f"cuda:{index} is {gpu}")
