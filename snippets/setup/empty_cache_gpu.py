"""Watch what del and empty_cache each do to the memory of a GPU."""

import torch


def gpu_memory() -> tuple[int, int]:
    """Return the memory of the current GPU that this process uses.

    Returns:
        The MiB in live tensors, and the MiB held by the caching allocator,
        live tensors included. nvidia-smi shows more: the CUDA context, too,
        which stays until the process ends.

    Source: torch.cuda.memory_allocated, torch.cuda.memory_reserved
    """
    MiB = 2**20
    tensors = torch.cuda.memory_allocated() // MiB
    return tensors, torch.cuda.memory_reserved() // MiB


if __name__ == "__main__":
    x = torch.zeros(64, 2**20, dtype=torch.uint8, device="cuda")  # 64 MiB
    tensors, reserved = gpu_memory()
    assert tensors == 64 and reserved >= 64

    torch.cuda.empty_cache()  # a live tensor is not touched
    assert gpu_memory()[0] == 64

    del x  # now the block is free for the next tensor, but not given back
    assert gpu_memory() == (0, reserved)

    torch.cuda.empty_cache()
    assert gpu_memory() == (0, 0)
    print(f"{reserved} MiB went back to the driver")
