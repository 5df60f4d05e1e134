"""Let torch compute the size of a network's output, or compute it by hand."""

import copy

import torch
from torch import nn


def conv_out(size, kernel, stride=1, padding=0, dilation=1):
    """Height or width after Conv2d or MaxPool2d (there, stride=kernel)."""
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


if __name__ == "__main__":
    features = nn.Sequential(nn.Conv2d(1, 16, 5), nn.ReLU(), nn.MaxPool2d(2))
    shape = 1, 28, 28  # yours: one image, (C, H, W)

    probe = copy.deepcopy(features).eval()  # statistics of BatchNorm stay
    n = probe(torch.zeros(1, *shape)).flatten(1).shape[1]
    fc = nn.Linear(n, 10)  # 10 classes

    h = conv_out(28, kernel=5)  # 24
    h = conv_out(h, kernel=2, stride=2)  # pooling: 12
    assert n == 16 * h * h
    print(h, n)
