"""Copy a tensor: decide whether memory and gradients come along."""

import torch


def independent_copy(tensor: torch.Tensor) -> torch.Tensor:
    """Return the values in memory of their own, outside the graph.

    Args:
        tensor: any shape, dtype and device; may require grad.

    Returns:
        Same shape, dtype and device; does not require grad.

    Source: torch.Tensor.detach and torch.clone in the PyTorch reference
    """
    return tensor.detach().clone()


def relation(new: torch.Tensor, old: torch.Tensor) -> str:
    """Say whether two tensors share memory, and whether new is in a graph."""
    start = new.untyped_storage().data_ptr()  # also where new is a slice
    shared = start == old.untyped_storage().data_ptr()
    memory = "shared" if shared else "own"
    return f"{memory} memory, {'in' if new.requires_grad else 'no'} graph"


if __name__ == "__main__":
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    alias = weight.detach()
    branch = weight.clone()
    copy = independent_copy(weight)

    with torch.no_grad():
        weight += 10  # in place, as an optimizer does
    assert alias.tolist() == [11.0, 12.0]
    assert branch.tolist() == copy.tolist() == [1.0, 2.0]

    branch.sum().backward()  # a clone passes gradients on
    assert weight.grad.tolist() == [1.0, 1.0]

    print("detach()        ", relation(alias, weight))
    print("clone()         ", relation(branch, weight))
    print("detach().clone()", relation(copy, weight))
