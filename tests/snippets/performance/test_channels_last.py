"""channels-last: memory against NumPy's NHWC, and a float64 run without the format."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import default_collate

from tests.helpers import load_snippet, raises_as_documented

PAGE = "performance/channels-last"
LAST = torch.channels_last
snippet = load_snippet("performance/channels_last.py")


def is_last(x):
    """Asked of both formats: with one channel, both are true."""
    return x.is_contiguous(memory_format=LAST) and not x.is_contiguous()


def in_memory(x):
    """The numbers of a tensor in the order in which they lie in memory."""
    assert x.untyped_storage().nbytes() == x.numel() * x.element_size()
    return x.detach().as_strided((x.numel(),), (1,)).numpy()


@pytest.fixture
def x():
    torch.manual_seed(1)
    return torch.randn(2, 3, 5, 7).to(memory_format=LAST)


def test_what_is_printed(capsys):
    load_snippet("performance/channels_last.py")
    n, c, h, w = 2, 3, 16, 16
    assert capsys.readouterr().out.splitlines() == [
        f"strides before {(c * h * w, h * w, w, 1)}",
        f"strides after  {(h * w * c, 1, w * c, c)}",
    ]
    assert snippet.x.shape == (n, c, h, w)


def test_memory_is_nhwc_and_shapes_are_not():
    for tensor in (snippet.x, snippet.model[0].weight, snippet.model[2].weight):
        assert is_last(tensor)
        nhwc = tensor.detach().numpy().transpose(0, 2, 3, 1)
        np.testing.assert_array_equal(in_memory(tensor), nhwc.ravel())
    assert snippet.model[2].weight.shape == (4, 8, 3, 3)


def test_the_numbers_are_those_of_float64():
    plain = (
        copy.deepcopy(snippet.model).double().to(memory_format=torch.contiguous_format)
    )
    x = snippet.x.double().contiguous()
    assert not is_last(x)
    y = plain(x)
    assert is_last(snippet.y)
    assert not is_last(y)
    torch.testing.assert_close(snippet.y.double(), y, rtol=1e-4, atol=1e-5)


def test_weight_or_input_is_enough(x):
    conv = nn.Conv2d(3, 4, 3)
    assert not is_last(conv(x.contiguous()))
    assert is_last(conv(x))
    conv.to(memory_format=LAST)
    assert is_last(conv(x.contiguous()))


@pytest.mark.parametrize(
    "layer", [nn.ReLU(), nn.BatchNorm2d(3), nn.MaxPool2d(2), nn.AvgPool2d(2)]
)
def test_what_keeps_it(layer, x):
    assert is_last(layer(x))


def test_what_loses_it(x):
    old = x.contiguous()
    for y in (torch.stack([x[0], x[1]]), old, old + x):
        assert not is_last(y)
    assert is_last(x + old)
    assert default_collate([x[0], x[1]]).is_contiguous()


def test_view_is_refused_flatten_copies(x):
    with raises_as_documented(PAGE, "RuntimeError: view size"):
        x.view(len(x), -1)
    assert torch.equal(x.flatten(1), x.contiguous().view(len(x), -1))


def test_four_dimensions_only(x):
    start = "RuntimeError: required rank 4"
    with raises_as_documented(PAGE, start):
        x[0].to(memory_format=LAST)
    with raises_as_documented(PAGE, start):
        nn.Conv3d(2, 2, 3).to(memory_format=LAST)
    assert is_last(x[0].contiguous().unsqueeze(0).to(memory_format=LAST))
    weight = nn.Conv3d(2, 2, 3).to(memory_format=torch.channels_last_3d).weight
    assert weight.stride() == (54, 1, 18, 6, 2)


def test_permute_changes_the_shape():
    with raises_as_documented(PAGE, "RuntimeError: Given groups=1"):
        snippet.model(snippet.x.permute(0, 2, 3, 1))


def test_to_takes_a_device_too(x):
    y = x.contiguous().to("cpu", memory_format=LAST)
    assert is_last(y)
    assert torch.equal(x, y)


def test_images_of_numpy_are_channels_last_already():
    images = np.arange(2 * 5 * 7 * 3, dtype=np.uint8).reshape(2, 5, 7, 3)
    x = torch.from_numpy(images).permute(0, 3, 1, 2)
    assert is_last(x)
    assert x.shape == (2, 3, 5, 7)
    assert x.data_ptr() == images.ctypes.data
