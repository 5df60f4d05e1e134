"""depthwise-separable-conv: SciPy channel by channel, counts worked by hand."""

import numpy as np
import pytest
import torch
from scipy.signal import correlate2d
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/depthwise-separable-conv"
snippet = load_snippet("models/depthwise_separable_conv.py")


def correlate(image, kernel):
    return correlate2d(image, kernel, mode="same")


def test_depthwise_filters_each_channel_alone():
    found = snippet.depthwise(snippet.x[:1]).detach().numpy()[0]
    image = snippet.x[0].numpy()
    kernels = snippet.depthwise.weight.detach().numpy()
    expected = [correlate(image[c], kernels[c, 0]) for c in range(64)]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_pointwise_mixes_the_channels():
    middle = snippet.depthwise(snippet.x)
    weight = snippet.pointwise.weight[:, :, 0, 0]
    expected = torch.einsum("dc,nchw->ndhw", weight, middle)
    torch.testing.assert_close(snippet.separable(snippet.x), expected)
    assert all(conv.bias is None for conv in snippet.separable)


def test_the_separable_convolution_is_a_full_one_of_rank_one():
    weight = snippet.pointwise.weight * snippet.depthwise.weight[:, 0]
    expected = F.conv2d(snippet.x, weight, padding=1)
    torch.testing.assert_close(
        snippet.separable(snippet.x), expected, rtol=1e-4, atol=1e-5
    )


def test_groups_are_convolutions_beside_each_other():
    parts = zip(snippet.x.chunk(4, 1), snippet.grouped.weight.chunk(4), strict=True)
    expected = torch.cat([F.conv2d(part, w, padding=1) for part, w in parts], 1)
    torch.testing.assert_close(snippet.grouped(snippet.x), expected)


def test_dilation_is_a_larger_kernel_with_zeros():
    wide = torch.zeros(128, 64, 5, 5)
    wide[:, :, ::2, ::2] = snippet.dilated.weight.detach()
    expected = F.conv2d(snippet.x, wide, padding=2)
    torch.testing.assert_close(
        snippet.dilated(snippet.x), expected, rtol=1e-4, atol=1e-5
    )


def test_the_counts(capsys):
    load_snippet("models/depthwise_separable_conv.py")
    counts = [
        line.rsplit(maxsplit=2)[1] for line in capsys.readouterr().out.split("\n")[:4]
    ]
    full, separable = 64 * 128 * 9, 64 * 9 + 64 * 128
    expected = [full, separable, full // 4, full]
    assert [int(count.replace(",", "")) for count in counts] == expected
    assert 8 < full / separable < 9


def test_channels_must_fit_the_groups():
    with raises_as_documented(PAGE, "ValueError: out_channels must be divisible"):
        nn.Conv2d(64, 96, 3, groups=64)
    with raises_as_documented(PAGE, "ValueError: in_channels must be divisible"):
        nn.Conv2d(6, 8, 3, groups=4)
    assert nn.Conv2d(64, 128, 3, groups=64).weight.shape == (128, 1, 3, 3)


def test_channels_of_the_input():
    with raises_as_documented(PAGE, "RuntimeError: Given groups=8"):
        nn.Conv2d(8, 8, 3, groups=8)(torch.rand(1, 16, 8, 8))
    x, weight = torch.rand(1, 8, 5, 5), torch.rand(8, 1, 3, 3)
    with raises_as_documented(PAGE, "RuntimeError: Given groups=1"):
        F.conv2d(x, weight)
    assert F.conv2d(x, weight, groups=8).shape == (1, 8, 3, 3)


def test_one_filter_for_all_channels():
    x, kernel = torch.rand(1, 3, 6, 6), torch.rand(3, 3)
    found = F.conv2d(x, kernel.expand(3, 1, 3, 3), padding=1, groups=3)
    expected = [correlate(channel, kernel.numpy()) for channel in x[0].numpy()]
    np.testing.assert_allclose(found[0], expected, atol=1e-5)


@pytest.mark.parametrize("kernel", [3, 5])
@pytest.mark.parametrize("dilation", [1, 2, 4])
def test_padding_that_keeps_the_size(kernel, dilation):
    padding = dilation * (kernel - 1) // 2
    x = torch.rand(1, 1, 20, 17)
    conv = nn.Conv2d(1, 1, kernel, padding=padding, dilation=dilation)
    same = nn.Conv2d(1, 1, kernel, padding="same", dilation=dilation)
    assert conv(x).shape == same(x).shape == x.shape


def test_shuffled_channels_come_from_all_groups():
    x = torch.arange(8.0).reshape(1, 8, 1, 1)
    found = nn.ChannelShuffle(4)(x).flatten().tolist()
    assert found == [0, 2, 4, 6, 1, 3, 5, 7]
