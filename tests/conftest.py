"""Fixtures for every test."""

import os
import random

import numpy as np
import pytest
import torch


@pytest.fixture(autouse=True)
def unchanged_globals():
    """Undo what a test's snippet sets process-wide: seeds, switches, dtype."""
    environment = dict(os.environ)
    python, numpy, cpu = random.getstate(), np.random.get_state(), torch.get_rng_state()
    deterministic = torch.are_deterministic_algorithms_enabled()
    benchmark = torch.backends.cudnn.benchmark
    dtype = torch.get_default_dtype()
    yield
    torch.set_default_dtype(dtype)
    torch.backends.cudnn.benchmark = benchmark
    torch.use_deterministic_algorithms(deterministic)
    random.setstate(python)
    np.random.set_state(numpy)
    torch.set_rng_state(cpu)
    os.environ.clear()
    os.environ.update(environment)
