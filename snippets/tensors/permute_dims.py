"""Reorder dimensions: put the channels of an image first, or last."""

import torch


def channels_first(images: torch.Tensor) -> torch.Tensor:
    """Move the channels before height and width.

    Args:
        images: (..., H, W, C), the order of Pillow and OpenCV arrays.

    Returns:
        (..., C, H, W), a view, and in general not contiguous.

    Raises:
        IndexError: fewer than three dimensions.

    Source: torch.movedim in the PyTorch reference
    """
    return images.movedim(-1, -3)


def channels_last(images: torch.Tensor) -> torch.Tensor:
    """Undo ``channels_first``: (..., C, H, W) to (..., H, W, C)."""
    return images.movedim(-3, -1)


if __name__ == "__main__":
    N, H, W, C = 2, 4, 5, 3
    images = torch.arange(N * H * W * C).reshape(N, H, W, C)

    x = channels_first(images)
    assert x.shape == (N, C, H, W)
    assert torch.equal(x[0, 1], images[0, :, :, 1])  # a channel stays whole
    assert torch.equal(x, images.permute(0, 3, 1, 2))  # by number
    assert torch.equal(channels_last(x), images)
    assert x.transpose(2, 3).shape == x.mT.shape == (N, C, W, H)  # swap two

    # The right shape, but reshape keeps the order: the picture is garbled.
    assert not torch.equal(x, images.reshape(N, C, H, W))

    # No element has moved; contiguous() copies them into the new order.
    assert x.data_ptr() == images.data_ptr()
    print(images.stride(), "->", x.stride(), "->", x.contiguous().stride())
