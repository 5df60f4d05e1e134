"""depthwise-separable-conv: SciPy channel by channel, counts worked by hand."""

import runpy

import numpy as np
import pytest
import torch
from scipy.signal import correlate2d
from torch import nn
from torch.nn import functional as F

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "models/depthwise-separable-conv"
SNIPPET = "models/depthwise_separable_conv.py"
snippet = load_snippet(SNIPPET)


def correlate(image, kernel):
    return correlate2d(image, kernel, mode="same")


def block(c_in=4, c_out=6, stride=1):
    torch.manual_seed(0)
    block = snippet.separable(c_in, c_out, stride).eval()
    for norm in (block[1], block[4]):
        nn.init.uniform_(norm.running_var, 0.5, 2)
        for tensor in (norm.running_mean, norm.weight, norm.bias):
            nn.init.normal_(tensor)
    return block


def normalised(maps, norm):
    """BatchNorm with its running statistics, then ReLU, in NumPy."""
    mean, var, weight, bias = (
        tensor.detach().double().numpy()[:, None, None]
        for tensor in (norm.running_mean, norm.running_var, norm.weight, norm.bias)
    )
    return np.maximum((maps - mean) / np.sqrt(var + norm.eps) * weight + bias, 0)


@pytest.mark.parametrize("size", [(8, 8), (7, 5)])
@pytest.mark.parametrize("stride", [1, 2])
def test_the_block_against_loops(size, stride):
    model, x = block(stride=stride), torch.rand(2, 4, *size)
    kernels = model[0].weight.detach().numpy()
    mix = model[3].weight.detach().numpy()[:, :, 0, 0]
    for image, found in zip(x.numpy(), model(x).detach().numpy(), strict=True):
        maps = [correlate(image[c], kernels[c, 0]) for c in range(4)]
        maps = np.stack(maps)[:, ::stride, ::stride]
        mixed = np.einsum("dc,chw->dhw", mix, normalised(maps, model[1]))
        np.testing.assert_allclose(found, normalised(mixed, model[4]), atol=1e-4)
    assert all(model[i].bias is None for i in (0, 3))


def test_bfloat16_on_another_device():
    model = snippet.separable(3, 8, stride=2).to("meta", torch.bfloat16)
    x = torch.rand(2, 3, 9, 9, device="meta", dtype=torch.bfloat16)
    assert model(x).shape == (2, 8, 5, 5)


def test_groups_are_convolutions_beside_each_other():
    x, conv = torch.rand(2, 64, 9, 9), nn.Conv2d(64, 128, 3, padding=1, groups=4)
    parts = zip(x.chunk(4, 1), conv.weight.chunk(4), strict=True)
    expected = torch.cat([F.conv2d(part, w, padding=1) for part, w in parts], 1)
    torch.testing.assert_close(conv(x), expected + conv.bias[:, None, None])


def test_dilation_is_a_larger_kernel_with_zeros():
    x, conv = torch.rand(2, 64, 9, 9), nn.Conv2d(64, 128, 3, padding=2, dilation=2)
    wide = torch.zeros(128, 64, 5, 5)
    wide[:, :, ::2, ::2] = conv.weight.detach()
    expected = F.conv2d(x, wide, conv.bias, padding=2)
    torch.testing.assert_close(conv(x), expected, rtol=1e-4, atol=1e-5)


def test_the_counts(capsys):
    runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    counts = [
        line.rsplit(maxsplit=2)[1] for line in capsys.readouterr().out.splitlines()
    ]
    full, separable = 64 * 128 * 9, 64 * 9 + 64 * 128
    expected = [full, full // 4, separable]
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
