"""upsampling-layers: loops in NumPy, the sizes by formula, and each pitfall."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/upsampling-layers"


@pytest.fixture
def snippet():
    return load_snippet("models/upsampling_layers.py")


def transposed_by_hand(x, weight, bias, stride, padding, size):
    """One map into another, pixel by pixel: (in, H, W) to (out, size, size)."""
    height, width = x.shape[1:]
    k = weight.shape[-1]
    whole = (max(height, width) - 1) * stride + k + stride
    out = np.zeros((weight.shape[1], whole, whole))
    for c in range(len(x)):
        for i in range(height):
            for j in range(width):
                part = out[:, i * stride : i * stride + k, j * stride : j * stride + k]
                part += weight[c] * x[c, i, j]
    out = out[:, padding : padding + size, padding : padding + size]
    return out + bias[:, None, None]


@pytest.mark.parametrize(
    ("k", "padding", "extra", "size"),
    [(2, 0, 0, 10), (4, 1, 0, 10), (3, 1, 1, 10), (3, 1, 0, 9)],
)
def test_transposed_convolution_by_hand(k, padding, extra, size):
    layer = nn.ConvTranspose2d(3, 2, k, 2, padding, output_padding=extra).double()
    x = torch.randn(1, 3, 5, 5, dtype=torch.float64)
    out = layer(x)[0].detach().numpy()
    assert out.shape == (2, size, size)
    assert size == (5 - 1) * 2 - 2 * padding + (k - 1) + extra + 1
    weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    expected = transposed_by_hand(x[0].numpy(), weight, bias, 2, padding, size)
    np.testing.assert_allclose(out, expected, atol=1e-12)
    assert layer.weight.shape == (3, 2, k, k)


def test_all_three_double(snippet):
    x = torch.rand(1, 64, 5, 6)
    for layer in (snippet.up, snippet.transposed, snippet.shuffle):
        assert layer(x).shape == (1, 32, 10, 12)


def test_pixel_shuffle_by_hand(snippet):
    x = snippet.four(snippet.x)
    out = snippet.shuffle(snippet.x)
    for c, i, j in ((0, 0, 0), (3, 0, 1), (31, 1, 0), (7, 1, 1)):
        assert torch.equal(out[:, c, i::2, j::2], x[:, 4 * c + 2 * i + j])
    assert torch.equal(nn.PixelUnshuffle(2)(out), x)


def test_upsample_keeps_a_slope(snippet):
    ramp = torch.arange(8.0).expand(1, 1, 8, 8)
    row = snippet.up[0](ramp)[0, 0, 3]
    np.testing.assert_allclose(row[1:-1], np.arange(14) / 2 + 0.25, atol=1e-6)


def test_the_counts_are_printed(capsys):
    load_snippet("models/upsampling_layers.py")
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == f"kernel 2: {[1] * 10}"
    assert printed[1] == f"kernel 3: {[1, 2] * 4 + [1]}"
    assert printed[2] == f"kernel 4: {[2] + [4] * 8 + [2]}"


def test_icnr_begins_without_a_pattern(snippet):
    four, x = snippet.four, torch.rand(1, 64, 6, 6)
    out = snippet.shuffle(x)
    assert not torch.allclose(out[..., ::2, ::2], out[..., 1::2, ::2], atol=1e-3)
    with torch.no_grad():
        four.weight.copy_(four.weight[::4].repeat_interleave(4, 0))
        four.bias.zero_()
    out = snippet.shuffle(x)
    for i, j in ((0, 1), (1, 0), (1, 1)):
        torch.testing.assert_close(out[..., i::2, j::2], out[..., ::2, ::2])
    assert out[0, 0].std() > 0
    assert not torch.allclose(out[:, 0], out[:, 1], atol=1e-3)


def test_output_size(snippet):
    layer, x = nn.ConvTranspose2d(64, 32, 3, stride=2, padding=1), snippet.x
    assert layer(x).shape[2:] == (13, 13)
    for size in (13, 14):
        assert layer(x, output_size=(size, size)).shape[2:] == (size, size)
        assert nn.Conv2d(1, 1, 3, 2, 1)(torch.rand(1, 1, size, size)).shape[2:] == (
            7,
            7,
        )
    with raises_as_documented(PAGE, "ValueError: requested an output"):
        layer(x, output_size=(15, 15))
    with pytest.raises(TypeError, match="output_size"):
        nn.Sequential(layer)(x, output_size=(14, 14))


def test_an_image_without_a_batch_and_a_sequence(snippet):
    with raises_as_documented(PAGE, "NotImplementedError: Got 3D"):
        snippet.up(snippet.x[0])
    assert snippet.up(snippet.x[0][None]).shape == (1, 32, 14, 14)
    row = torch.tensor([[[0.0, 4, 8]]])  # (N, C, T)
    doubled = nn.Upsample(scale_factor=2, mode="linear")(row)
    assert doubled.tolist() == [[[0, 1, 3, 5, 7, 8]]]
    volume = torch.rand(1, 1, 2, 3, 4)
    assert nn.Upsample(scale_factor=2, mode="trilinear")(volume).shape[2:] == (4, 6, 8)


def test_messages(snippet):
    with raises_as_documented(PAGE, "RuntimeError: output padding"):
        nn.ConvTranspose2d(64, 32, 3, 2, 1, output_padding=2)(snippet.x)
    with raises_as_documented(PAGE, "RuntimeError: pixel_shuffle"):
        nn.PixelShuffle(2)(torch.rand(2, 30, 7, 7))
    with raises_as_documented(PAGE, "ValueError: Only"):
        nn.ConvTranspose2d(64, 32, 3, padding_mode="reflect")
