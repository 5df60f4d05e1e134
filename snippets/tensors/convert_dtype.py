"""Convert the dtype of a tensor, and of a batch to what a model expects."""

import torch
from torch import nn
from torch.nn import functional as F


def cast_batch(
    x: torch.Tensor, y: torch.Tensor, model: nn.Module
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cast a batch for a classifier; the devices stay as they are.

    Args:
        x: (N, ...) features of any real dtype, such as float64 from NumPy;
            not token ids, which an embedding wants as integers.
        y: (N, ...) class indices of any real dtype, such as float from CSV.
        model: has at least one parameter.

    Returns:
        x in the dtype of the weights, y in int64.

    Raises:
        ValueError: a class index is not a whole number.

    Source: torch.Tensor.to and cross_entropy in the PyTorch reference
    """
    weight = next(model.parameters())
    classes = y.to(torch.int64)
    # Without the check, the cast turns 2.9 into 2 and says nothing.
    if not torch.equal(classes.to(y.dtype), y):
        raise ValueError("Class indices must be whole numbers")
    return x.to(weight.dtype), classes


if __name__ == "__main__":
    model = nn.Linear(4, 3)
    inputs = torch.ones(2, 4, dtype=torch.float64)
    labels = torch.tensor([0.0, 2.0])
    x, y = cast_batch(inputs, labels, model)
    assert F.cross_entropy(model(x), y).isfinite()
    print(f"x: {inputs.dtype} -> {x.dtype}")
    print(f"y: {labels.dtype} -> {y.dtype}")

    # What does not fit is changed, not reported.
    assert torch.tensor([2.9, -2.9]).to(torch.int64).tolist() == [2, -2]
    assert torch.tensor([256 + 44]).to(torch.uint8).item() == 44
    assert torch.tensor(70000.0).to(torch.float16).isinf()

    # Dtypes that meet in one operation are promoted.
    assert torch.promote_types(torch.int64, torch.float16) == torch.float16
    assert (torch.tensor([7]) / 2).dtype == torch.float32
