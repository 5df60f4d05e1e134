"""Join tensors: cat along a dimension they have, stack along a new one."""

import torch


def collate(samples: list[torch.Tensor]) -> torch.Tensor:
    """Stack B samples of one shape, each (...), into a batch, (B, ...).

    Raises:
        RuntimeError: the shapes differ, or there are no samples.

    Source: torch.stack in the PyTorch reference
    """
    return torch.stack(samples)


def join(batches: list[torch.Tensor]) -> torch.Tensor:
    """Concatenate batches, each (B_i, ...), into one, (sum of B_i, ...).

    Raises:
        RuntimeError: they differ in another dimension than the first.
        ValueError: there are no batches.

    Source: torch.cat in the PyTorch reference
    """
    return torch.cat(batches)


if __name__ == "__main__":
    a, b, c = (torch.full((10, 5), value) for value in (0.0, 1.0, 2.0))
    joined = join([a, b, c])  # (30, 5)
    stacked = collate([a, b, c])  # (3, 10, 5)
    assert torch.equal(joined[10:20], b)
    assert torch.equal(stacked[1], b)

    # stack is cat of tensors that got a dimension of size 1.
    assert torch.equal(stacked, join([t[None] for t in (a, b, c)]))
    print("cat", tuple(joined.shape), "stack", tuple(stacked.shape))
