"""Set a layer's weight to given values, and keep it the same parameter."""

import torch
from torch import nn


@torch.no_grad()
def set_values(parameter: nn.Parameter, values: torch.Tensor) -> None:
    """Copy values into a parameter that optimizers and other layers hold.

    Args:
        parameter: any shape; keeps its dtype, device and requires_grad.
        values: the same shape, any dtype, any device; not kept.

    Raises:
        ValueError: the shapes differ; the parameter is unchanged.

    Source: torch.Tensor.copy_ in the PyTorch reference
    """
    if values.shape != parameter.shape:  # copy_ alone would broadcast
        given, wanted = tuple(values.shape), tuple(parameter.shape)
        raise ValueError(f"values of shape {given} for a parameter {wanted}")
    parameter.copy_(values)


if __name__ == "__main__":
    layer = nn.Linear(3, 2)  # its weight is (out, in)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    values = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])  # (2, 3)
    set_values(layer.weight, values)
    assert torch.equal(layer.weight, values)

    layer(torch.ones(1, 3)).sum().backward()  # a gradient of 1 everywhere
    optimizer.step()  # the optimizer made before still trains this weight
    torch.testing.assert_close(layer.weight.detach(), values - 1)
    print(layer.weight.tolist())
