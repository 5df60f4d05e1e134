"""Seed every random generator, so that a run can be repeated."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader


def set_seed(seed):
    """Seed Python, NumPy and torch; ValueError unless 0 <= seed < 2**32."""
    np.random.seed(seed)
    random.seed(seed)
    torch.manual_seed(seed)  # the CPU and every GPU


if __name__ == "__main__":
    dataset = range(6)  # yours: any dataset
    for run in "first", "again":
        seed = 0
        set_seed(seed)  # before you create the model and the data
        generator = torch.Generator().manual_seed(seed)
        loader = DataLoader(
            dataset, batch_size=32, shuffle=True, generator=generator
        )

        order = [index for batch in loader for index in batch.tolist()]
        numbers = random.random(), np.random.rand(), torch.rand(1).item()
        print(run, *(f"{number:.3f}" for number in numbers), order)
