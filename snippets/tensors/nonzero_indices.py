"""Find, read and count the elements of a tensor that meet a condition."""

import torch


def find(
    x: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return where a mask is true, and what stands there, in row-major order.

    Args:
        x: any shape.
        mask: bool, the shape of x or of its first D >= 1 dimensions.

    Returns:
        coordinates, (K, D) int64, and values, (K,) or, where the mask is
        shorter than the shape, (K, ...).

    Raises:
        IndexError: the sizes of the mask are not those of x.

    Source: torch.nonzero in the PyTorch reference
    """
    index = torch.nonzero(mask, as_tuple=True)  # D tensors, each (K,)
    return torch.stack(index, dim=1), x[mask]


if __name__ == "__main__":
    x = torch.tensor([[0, 7, 0], [5, 0, -3]])
    where, values = find(x, x != 0)
    assert where.tolist() == [[0, 1], [1, 0], [1, 2]]
    assert values.tolist() == [7, 5, -3]

    # To count, no index is needed.
    assert torch.count_nonzero(x) == 3
    assert (x == 0).sum(dim=1).tolist() == [2, 1]
    print("non-zero at", where.tolist(), "values", values.tolist())
