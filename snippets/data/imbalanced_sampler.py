"""Draw every class equally often from a dataset in which some are rare."""

import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def balanced_sampler(
    target: torch.Tensor, generator: torch.Generator | None = None
) -> WeightedRandomSampler:
    """Draw N samples with replacement, each class with the same probability.

    Args:
        target: (N,) class of every sample, integers >= 0, on the CPU.
        generator: makes the draws repeatable.

    Raises:
        RuntimeError: the target is not 1-dimensional integers >= 0.
        ValueError: the target is empty.

    Source: torch.utils.data.WeightedRandomSampler in the PyTorch reference
    """
    count = torch.bincount(target)  # (C,)
    index = target.long()  # uint8 would be taken for a mask
    weight = 1 / count[index].double()  # (N,), adds up to 1 in each class
    return WeightedRandomSampler(weight, len(target), generator=generator)


if __name__ == "__main__":
    target = torch.tensor([0] * 900 + [1] * 90 + [2] * 10)
    data = TensorDataset(torch.arange(1000), target)
    sampler = balanced_sampler(target, torch.Generator().manual_seed(0))

    loader = DataLoader(data, batch_size=100, sampler=sampler)
    drawn = torch.cat([y for _, y in loader])
    share = torch.bincount(drawn) / len(drawn)
    assert all(0.28 < s < 0.39 for s in share.tolist())
    print("share of each class:", [round(s, 1) for s in share.tolist()])
