"""Switch cuDNN between repeatable convolutions and the fastest ones."""

import torch
from torch import nn
from torch.backends import cudnn


def set_cudnn(reproducible: bool) -> None:
    """Set both flags, so that switching back leaves nothing behind.

    Args:
        reproducible: True picks one deterministic algorithm per convolution
            by rule. False times several for each new input size and keeps
            the fastest: for speed only, and only where sizes seldom change.

    Source: https://docs.pytorch.org/docs/stable/notes/randomness.html
    """
    cudnn.deterministic = reproducible
    cudnn.benchmark = not reproducible


def weight_gradient() -> torch.Tensor:
    """Run one convolution forward and backward; return (16, 3, 3, 3)."""
    torch.manual_seed(0)
    device = torch.accelerator.current_accelerator(check_available=True)
    conv = nn.Conv2d(3, 16, kernel_size=3).to(device or "cpu")
    x = torch.randn(8, 3, 32, 32, device=conv.weight.device)
    conv(x).square().sum().backward()
    return conv.weight.grad


if __name__ == "__main__":
    set_cudnn(reproducible=True)
    assert torch.equal(weight_gradient(), weight_gradient())
    print(f"{cudnn.benchmark=} {cudnn.deterministic=}")

    set_cudnn(reproducible=False)
    print(f"{cudnn.benchmark=} {cudnn.deterministic=}")
