"""Repeat a tensor along new dimensions without copying it."""

import torch


def expand_to_map(features: torch.Tensor, H: int, W: int) -> torch.Tensor:
    """Give every pixel of a feature map the same feature vector.

    Args:
        features: (B, C).
        H, W: height and width of the map.

    Returns:
        (B, C, H, W), a view to read from, not to write to: all pixels are
        one piece of memory. Their gradients add up in ``features``.

    Raises:
        IndexError: features has fewer than two dimensions.

    Source: torch.Tensor.expand in the PyTorch reference
    """
    pixel = features[:, :, None, None]  # (B, C, 1, 1)
    return pixel.expand(-1, -1, H, W)  # -1: keep this size


if __name__ == "__main__":
    B, C, H, W = 64, 512, 7, 7
    features = torch.randn(B, C)
    expanded = expand_to_map(features, H, W)
    assert expanded.shape == (B, C, H, W)
    assert torch.equal(expanded[:, :, 3, 5], features)
    assert expanded.data_ptr() == features.data_ptr()
    print("stride", expanded.stride())  # 0: the same element again

    # cat and stack do not broadcast; arithmetic does, without expand.
    maps = torch.randn(B, 3, H, W)
    assert torch.cat([maps, expanded], dim=1).shape == (B, 3 + C, H, W)
    gate = maps[:, :1] * features[:, :, None, None]
    assert torch.equal(gate, maps[:, :1] * expanded)

    try:
        expanded += 1  # would add 49 times to each element
    except RuntimeError as error:
        print(str(error).split(". ")[0])
