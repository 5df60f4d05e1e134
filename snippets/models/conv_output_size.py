"""Compute the output size of a convolution, or let torch compute it."""

import torch
from torch import nn


def conv_out(size, kernel, stride=1, padding=0, dilation=1):
    """Height or width after Conv2d or MaxPool2d (there, stride=kernel)."""
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


if __name__ == "__main__":
    h = conv_out(28, kernel=5)  # 24
    h = conv_out(h, kernel=2, stride=2)  # pooling: 12
    features = nn.Sequential(
        nn.Conv2d(1, 16, kernel_size=5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
    )
    n = features(torch.zeros(1, 1, 28, 28)).shape[1]  # one fake image
    assert n == 16 * h * h
    fc = nn.Linear(n, 10)  # or nn.LazyLinear(10), which finds n
    same = nn.Conv2d(1, 16, 5, padding="same")  # keeps the size
    print(h, n, tuple(same(torch.zeros(1, 1, 28, 28)).shape))
