"""conv-output-size: the formula against every layer, the table, each message."""

import copy
import itertools

import pytest
import torch
import torchinfo
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/conv-output-size"
snippet = load_snippet("models/conv_output_size.py")
image = torch.zeros(1, 1, 23, 28)


def sizes(layer, x=image):
    return tuple(layer(x).shape[2:])


@pytest.mark.parametrize("kernel", [1, 3, 4, 5])
def test_the_formula_is_that_of_conv2d(kernel):
    for stride, padding, dilation in itertools.product((1, 2, 3), (0, 2), (1, 3)):
        layer = nn.Conv2d(1, 1, kernel, stride, padding, dilation)
        settings = (kernel, stride, padding, dilation)
        assert sizes(layer) == tuple(snippet.conv_out(n, *settings) for n in (23, 28))


def test_the_defaults_are_those_of_conv2d():
    assert snippet.conv_out(28, 5) == sizes(nn.Conv2d(1, 1, 5))[1] == 24
    assert snippet.conv_out(28, 2, 2) == sizes(nn.MaxPool2d(2))[1] == 14


@pytest.mark.parametrize(
    ("layer", "wanted"),
    [
        (nn.Conv2d(1, 1, 3, padding=1), (23, 28)),
        (nn.Conv2d(1, 1, 5, padding=2), (23, 28)),
        (nn.Conv2d(1, 1, 7, padding=3), (23, 28)),
        (nn.Conv2d(1, 1, 3, stride=2, padding=1), (12, 14)),
        (nn.Conv2d(1, 1, 7, stride=2, padding=7 // 2), (12, 14)),
        (nn.MaxPool2d(2), (11, 14)),
        (nn.MaxPool2d(2, ceil_mode=True), (12, 14)),
        (nn.ConvTranspose2d(1, 1, kernel_size=2, stride=2), (46, 56)),
        (nn.AdaptiveAvgPool2d(1), (1, 1)),
    ],
    ids=str,
)
def test_the_table(layer, wanted):
    assert sizes(layer) == wanted


def test_transposed():
    for k, s, p, d, o in itertools.product((2, 3), (2, 3), (0, 1), (1, 2), (0, 1)):
        layer = nn.ConvTranspose2d(1, 1, k, s, p, o, dilation=d)
        wanted = [(n - 1) * s - 2 * p + d * (k - 1) + o + 1 for n in (23, 28)]
        assert list(sizes(layer)) == wanted
    up = nn.ConvTranspose2d(1, 1, 3, stride=2, padding=1)
    assert up(torch.zeros(1, 1, 4, 4), output_size=[8, 8]).shape[2:] == (8, 8)


@pytest.mark.parametrize("end", [[nn.Flatten()], []], ids=["flatten", "in forward"])
@pytest.mark.parametrize("shape", [(3, 33, 47), (1, 28, 28)])
def test_the_answer_fits_images_of_any_shape(shape, end):
    answer = recipes()["conv-output-size"].answer
    conv = nn.Conv2d(shape[0], 4, 3, stride=2, padding=1)
    features = nn.Sequential(conv, nn.BatchNorm2d(4), nn.MaxPool2d(2), *end)
    names = {"features": features, "shape": shape}
    exec(answer.text, names)
    model = nn.Sequential(features, nn.Flatten(), names["fc"])
    assert model(torch.randn(2, *shape)).shape == (2, 10)


def test_the_answer_leaves_the_mode_and_the_statistics_of_batchnorm():
    """In train() mode, BatchNorm1d would also refuse a single image."""
    norm = nn.BatchNorm1d(4 * 26 * 26)
    features = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), norm)
    names = {"features": features, "shape": (1, 28, 28)}
    before = copy.deepcopy(features.state_dict())
    exec(recipes()["conv-output-size"].answer.text, names)
    assert names["n"] == 4 * 26 * 26
    assert all(module.training for module in features.modules())
    for name, tensor in features.state_dict().items():
        assert torch.equal(tensor, before[name]), name


def test_the_size_is_kept_with_same():
    assert sizes(nn.Conv2d(1, 1, 5, padding="same")) == (23, 28)


def test_a_lazy_layer_becomes_a_linear():
    layer = nn.LazyLinear(10)
    layer(torch.zeros(1, 2304))
    assert type(layer) is nn.Linear
    assert layer.in_features == 2304
    layer = nn.LazyConv2d(16, 3)
    layer(torch.zeros(1, 5, 8, 8))
    assert (type(layer), layer.in_channels) == (nn.Conv2d, 5)


def test_shapes_alone():
    with torch.device("meta"):
        x = nn.Conv2d(1, 4, 5)(torch.empty(1, 1, 28, 28))
    assert x.shape == (1, 4, 24, 24)
    assert x.is_meta


def test_the_table_of_torchinfo():
    model = nn.Sequential(nn.Conv2d(1, 16, 5), nn.MaxPool2d(2), nn.Flatten())
    table = torchinfo.summary(model, input_size=(1, 1, 28, 28), verbose=0)
    wanted = [[1, 16, 24, 24], [1, 16, 12, 12], [1, 2304]]
    assert [row.output_size for row in table.summary_list[1:]] == wanted


def test_same_with_a_stride():
    with raises_as_documented(PAGE, "ValueError: padding='same'"):
        nn.Conv2d(1, 1, 3, stride=2, padding="same")


def test_an_image_too_small():
    with raises_as_documented(PAGE, "RuntimeError: Calculated padded"):
        nn.Conv2d(1, 1, 5)(torch.zeros(1, 1, 3, 3))


def test_a_lazy_layer_without_a_batch():
    with raises_as_documented(PAGE, "ValueError: Attempted to use"):
        nn.init.zeros_(nn.LazyLinear(10).weight)
    with raises_as_documented(PAGE, "RuntimeError: Can't access the shape"):
        nn.init.kaiming_normal_(nn.LazyLinear(10).weight)


def test_skip_connection():
    skip = torch.zeros(1, 3, 7, 7)
    up = nn.ConvTranspose2d(3, 3, 2, stride=2)(nn.MaxPool2d(2)(skip))
    with raises_as_documented(PAGE, "RuntimeError: Sizes of tensors must"):
        torch.cat([skip, up], 1)
    assert F.interpolate(up, size=skip.shape[2:]).shape == skip.shape


def test_a_pooling_too_many():
    with raises_as_documented(PAGE, "RuntimeError: Given input size"):
        nn.MaxPool2d(2)(torch.zeros(1, 3, 1, 1))


def test_pooling_with_much_padding():
    with raises_as_documented(PAGE, "RuntimeError: pad should be"):
        nn.MaxPool2d(2, padding=2)(image)
