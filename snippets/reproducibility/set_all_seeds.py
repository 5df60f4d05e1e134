"""Make a run repeat: fix its seeds and, if need be, its kernels too."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader


def set_seed(seed):
    """Seed Python, NumPy and torch; ValueError unless 0 <= seed < 2**32."""
    np.random.seed(seed)
    random.seed(seed)
    torch.manual_seed(seed)  # the CPU and every GPU


def set_deterministic():
    """Allow only kernels that repeat bit by bit on this machine."""
    torch.use_deterministic_algorithms(True)  # slower; some layers raise
    torch.backends.cudnn.benchmark = False


if __name__ == "__main__":
    set_deterministic()  # leave it out where equal starts are enough
    for seed in [0, 0, 1]:
        set_seed(seed)
        generator = torch.Generator().manual_seed(seed)  # for your DataLoader
        loader = DataLoader(range(6), 3, shuffle=True, generator=generator)
        order = [index for batch in loader for index in batch.tolist()]
        numbers = random.random(), np.random.rand(), torch.rand(1).item()
        print(seed, *(f"{number:.3f}" for number in numbers), order)
