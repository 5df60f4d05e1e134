"""Choose the dtype and the device of new tensors, for one block of code."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Make new floating-point tensors and modules ``dtype`` in a with block.

    torch has such a block for the device, ``with torch.device(...):``, but
    only a global switch for the dtype.

    Args:
        dtype: float16, bfloat16, float32 or float64.

    Raises:
        TypeError: the dtype is not a floating-point type.

    Source: torch.set_default_dtype in the PyTorch reference
    """
    previous = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:  # also after an error
        torch.set_default_dtype(previous)


if __name__ == "__main__":
    device = torch.accelerator.current_accelerator(check_available=True)
    # "meta" stands in for a GPU: its tensors have a shape and no values.
    device = device or torch.device("meta")

    with default_dtype(torch.float64), device:
        model = nn.Linear(3, 2)
        x = torch.ones(4, 3)
        labels = torch.tensor([0, 1, 1, 0])  # integers stay int64
    assert model.weight.dtype == x.dtype == torch.float64
    assert model.weight.device.type == x.device.type == device.type
    assert labels.dtype == torch.int64

    after = torch.ones(1)
    assert after.dtype == torch.float32 and after.device.type == "cpu"
    print(f"inside: {x.dtype} on {x.device}")
    print(f"after: {after.dtype} on {after.device}")
