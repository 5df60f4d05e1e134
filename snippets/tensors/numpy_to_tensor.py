"""Copy any numeric NumPy array into a tensor, mirrored ones included."""

import numpy as np
import torch


def to_tensor(
    array: np.ndarray, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """Return a new, contiguous CPU tensor with the array's shape and values.

    Views with negative strides, read-only arrays and arrays read from a
    big-endian file are copied too, where torch.from_numpy raises or warns.

    Args:
        array: any shape, 0-dim included; bool, integer, float or complex.
        dtype: of the result; None keeps NumPy's, which is often float64.

    Raises:
        TypeError: the array holds strings, dates or Python objects.

    Source: torch.from_numpy in the PyTorch reference
    """
    native = array.dtype.newbyteorder("=")
    copy = np.array(array, dtype=native, order="C")
    return torch.from_numpy(copy).to(dtype)


if __name__ == "__main__":
    array = np.arange(6.0).reshape(2, 3)
    mirrored = to_tensor(array[:, ::-1], torch.float32)

    # The other way to convert: no copy, and so one memory with two names.
    shared = torch.from_numpy(array)
    array[0, 0] = 9.0
    assert shared[0, 0] == 9.0
    assert mirrored.tolist() == [[2.0, 1.0, 0.0], [5.0, 4.0, 3.0]]
    print("copy:", mirrored.dtype, "shared:", shared.dtype)
