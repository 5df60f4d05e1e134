"""err-conv-channels: layouts in NumPy, sums by hand, and every quoted message."""

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torch.utils.data import default_collate
from torchvision import transforms
from torchvision.transforms import v2

from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/err-conv-channels"
snippet = load_snippet("errors/err_conv_channels.py")
R = torch.rand


def test_the_snippet_prints_five_errors_and_four_shapes(capsys):
    load_snippet("errors/err_conv_channels.py")
    lines = capsys.readouterr().out.splitlines()
    ends = [
        "expected input[16, 1, 28, 28] to have 3 channels, but got 1 channels instead",
        "expected input[16, 28, 28, 3] to have 3 channels, but got 28 channels instead",
        "expected input[1, 16, 28, 28] to have 3 channels, but got 16 channels instead",
        "input to conv2d, but got input of size: [28, 28]",
        "expected 4D input (got 3D input)",
    ]
    assert [line[-len(end) :] for line, end in zip(lines, ends, strict=False)] == ends
    assert lines[5:] == ["(16, 3, 28, 28) -> (16, 8, 26, 26)"] * 3 + [
        "(1, 3, 28, 28) -> (1, 8, 26, 26)"
    ]


def test_the_fixes_keep_every_pixel_in_its_place():
    for images in (snippet.gray, snippet.x):
        assert images.shape == (16, 3, 28, 28)
        assert torch.equal(images[:, 0], images[:, 1])
        assert torch.equal(images[:, 0], images[:, 2])
    nchw = R(16, 3, 28, 28).numpy()
    nhwc = torch.from_numpy(nchw.transpose(0, 2, 3, 1).copy())
    np.testing.assert_array_equal(nhwc.permute(0, 3, 1, 2).numpy(), nchw)
    assert not np.array_equal(nhwc.reshape(16, 3, 28, 28).numpy(), nchw)
    assert snippet.nchw.stride() == (28 * 28 * 3, 1, 28 * 3, 3)


@pytest.mark.parametrize(
    ("start", "layer", "x"),
    [
        (
            "RuntimeError: Given groups=1, weight of size [8, 3, 3, 3], expected input"
            "[16, 1",
            nn.Conv2d(3, 8, 3),
            R(16, 1, 28, 28),
        ),
        ("RuntimeError: Expected 3D (unb", nn.Conv2d(3, 8, 3), R(28, 28)),
        (
            "RuntimeError: Given groups=1, weight of size [8, 1",
            nn.Conv2d(1, 8, 3),
            R(16, 3, 28, 28),
        ),
        ("ValueError: expected 4D input", nn.BatchNorm2d(3), R(3, 28, 28)),
        (
            "RuntimeError: Given groups=1, weight of size [8, 3, 3], expected",
            nn.Conv1d(3, 8, 3),
            R(16, 20, 3),
        ),
        ("RuntimeError: Expected 2D (unb", nn.Conv1d(3, 8, 3), R(1, 16, 20, 3)),
        (
            "RuntimeError: Given transposed=1",
            nn.ConvTranspose2d(3, 8, 3),
            R(2, 4, 8, 8),
        ),
        ("RuntimeError: Calculated padded", nn.Conv2d(3, 8, 3), R(1, 3, 2, 2)),
        (
            "RuntimeError: output with shape",
            transforms.Normalize([0.5] * 3, [0.5] * 3),
            R(1, 28, 28),
        ),
        (
            "RuntimeError: The size of tensor a",
            transforms.Normalize([0.5] * 3, [0.5] * 3),
            R(4, 28, 28),
        ),
        (
            "RuntimeError: stack expects each",
            default_collate,
            [R(3, 28, 28), R(1, 28, 28)],
        ),
    ],
)
def test_what_the_page_quotes_is_raised(start, layer, x):
    with raises_as_documented(PAGE, start):
        layer(x)


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "1", "RGB"])
def test_convert_rgb_gives_three_channels(mode):
    image = Image.new(mode, (5, 4)).convert("RGB")
    x = v2.functional.to_image(image)
    assert x.shape == (3, 4, 5)


def test_one_gray_image_in_three_channels():
    image = R(1, 4, 5)
    colour = image.expand(3, -1, -1).numpy()
    np.testing.assert_array_equal(colour, np.repeat(image.numpy(), 3, axis=0))
    with pytest.raises(RuntimeError, match="leading, non-existing dimension"):
        image.expand(-1, 3, -1, -1)


def test_a_mean_over_channels_takes_colour_away():
    x = R(2, 3, 4, 5)
    expected = torch.from_numpy(x.numpy().sum(1, keepdims=True) / 3)
    torch.testing.assert_close(x.mean(1, keepdim=True), expected)


def test_a_summed_first_layer_sees_gray_as_three_channels():
    old, gray = nn.Conv2d(3, 8, 3), R(2, 1, 9, 9)
    new = nn.Conv2d(1, 8, 3)
    new.weight = nn.Parameter(old.weight.sum(1, keepdim=True))
    new.bias = old.bias
    expected = old(gray.expand(-1, 3, -1, -1))
    torch.testing.assert_close(new(gray), expected)


def test_joined_channels_add_up():
    up, skip = R(1, 64, 8, 8), R(1, 32, 8, 8)
    both = torch.cat([up, skip], 1)
    assert nn.Conv2d(64 + 32, 8, 3)(both).shape == (1, 8, 6, 6)
    with pytest.raises(RuntimeError, match="to have 64 channels, but got 96"):
        nn.Conv2d(64, 8, 3)(both)


def test_frames_join_the_batch():
    clips = R(2, 5, 3, 28, 28)  # (N, T, C, H, W)
    assert nn.Conv2d(3, 8, 3)(clips.flatten(0, 1)).shape == (10, 8, 26, 26)


def test_squeeze_takes_a_batch_of_one_away():
    x = R(1, 1, 28, 28)
    assert x.squeeze().shape == (28, 28)
    assert x.squeeze(1).shape == (1, 28, 28)
    assert x[:, :3].shape == x.shape
    assert R(2, 4, 5, 5)[:, :3].shape == (2, 3, 5, 5)


def test_the_newer_normalize_makes_three_channels_of_gray():
    assert v2.Normalize([0.5] * 3, [0.5] * 3)(R(1, 28, 28)).shape == (3, 28, 28)


def test_one_signal():
    layer, x = nn.Conv1d(1, 16, 17), R(741)
    with pytest.raises(
        RuntimeError, match=r"to conv1d, but got input of size: \[741\]"
    ):
        layer(x)
    assert x[None, None].shape == (1, 1, 741)
    assert layer(x[None, None]).shape == (1, 16, 725)
    assert layer(R(4, 741).unsqueeze(1)).shape == (4, 16, 725)
