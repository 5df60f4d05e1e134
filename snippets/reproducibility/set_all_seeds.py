"""Fix every random seed so that a run repeats exactly on this machine."""

import os
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def set_all_seeds(seed: int) -> torch.Generator:
    """Seed Python, NumPy and torch, and allow only repeatable kernels.

    Call it first: CUDA reads the workspace setting once, when it starts.

    Args:
        seed: 0 <= seed < 2**32, the range NumPy accepts.

    Returns:
        A generator with the same seed, for ``DataLoader(generator=...)``.

    Raises:
        ValueError: the seed is out of range; nothing has been seeded.

    Source: https://docs.pytorch.org/docs/stable/notes/randomness.html
    """
    np.random.seed(seed)
    random.seed(seed)
    torch.manual_seed(seed)  # the CPU and every GPU
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True)
    return torch.Generator().manual_seed(seed)


def train(seed: int) -> torch.Tensor:
    """Train a small net on shuffled batches; return its P weights, (P,)."""
    generator = set_all_seeds(seed)
    data = TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
    loader = DataLoader(data, 16, shuffle=True, generator=generator)
    model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    return nn.utils.parameters_to_vector(model.parameters()).detach()


if __name__ == "__main__":
    assert torch.equal(train(seed=0), train(seed=0))
    assert not torch.equal(train(seed=0), train(seed=1))
    print("same seed, same weights; another seed, other weights")
