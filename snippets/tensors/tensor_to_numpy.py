"""Turn any tensor into a NumPy array: on a GPU, requiring grad, bfloat16."""

import numpy as np
import torch


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """Return an array with the tensor's shape and values, on the host.

    bfloat16, which NumPy does not have, becomes float32 (exactly). Any other
    dense CPU tensor shares its memory with the array; otherwise it is a copy.

    Args:
        tensor: any shape, any device; may require grad.

    Raises:
        TypeError: float8, or a sparse tensor.

    Source: torch.Tensor.numpy in the PyTorch reference
    """
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    return tensor.numpy(force=True)  # detach, move, resolve conj and neg


if __name__ == "__main__":
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    array = to_numpy(weight)
    assert array.tolist() == [1.0, 2.0]

    array[0] = 5.0  # shared memory: the parameter changes as well
    assert weight.tolist() == [5.0, 2.0]

    half = to_numpy(torch.tensor([0.5], dtype=torch.bfloat16))
    assert half.dtype == np.float32 and half.tolist() == [0.5]
    print(array, half)
