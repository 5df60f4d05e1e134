"""Split and merge dimensions, without mixing up the elements."""

import torch


def split_heads(x: torch.Tensor, nh: int) -> torch.Tensor:
    """Divide the channels among the heads of an attention layer.

    Args:
        x: (B, T, C), batch, time, channels.
        nh: number of heads; C = nh * hs.

    Returns:
        (B, nh, T, hs), a view of x.

    Raises:
        RuntimeError: C is not divisible by nh.

    Source: torch.Tensor.unflatten in the PyTorch reference
    """
    return x.unflatten(-1, (nh, -1)).transpose(1, 2)  # -1: work it out


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Undo ``split_heads``: (B, nh, T, hs) to (B, T, C), maybe a copy."""
    return x.transpose(1, 2).flatten(2)


if __name__ == "__main__":
    B, T, nh, hs = 2, 5, 3, 4
    x = torch.arange(B * T * nh * hs).reshape(B, T, -1)  # (2, 5, 12)

    heads = split_heads(x, nh)
    assert heads.shape == (B, nh, T, hs)
    assert torch.equal(heads[:, 1], x[:, :, hs : 2 * hs])
    assert torch.equal(merge_heads(heads), x)

    # The shape is right as well, but head 1 gets parts of several steps.
    mixed = x.reshape(B, nh, T, hs)
    assert not torch.equal(mixed[:, 1], x[:, :, hs : 2 * hs])

    y = heads.contiguous().transpose(1, 2)  # (B, T, nh, hs), new strides
    assert torch.equal(y.reshape(B, T, -1), x)  # a copy, without a word
    try:
        y.view(B, T, -1)  # never copies, so it can not
    except RuntimeError as error:
        print(error)
