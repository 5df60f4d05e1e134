"""linear-or-conv1x1: against NumPy's sum for each pixel, and one against the other."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/linear-or-conv1x1"
ANSWER = recipes()["linear-or-conv1x1"].answer


@pytest.mark.parametrize("shape", [(2, 5, 3, 4), (1, 5, 4, 4), (3, 5, 1, 7)])
@pytest.mark.parametrize("channels_last", [False, True])
def test_the_answer_is_a_sum_for_each_pixel(shape, channels_last):
    x = torch.randn(shape)
    if channels_last:
        x = x.to(memory_format=torch.channels_last)
        assert x.movedim(1, -1).is_contiguous()
    conv = nn.Conv2d(5, 6, kernel_size=1)
    linear = nn.Linear(5, 6)
    linear.load_state_dict({"weight": conv.weight.flatten(1), "bias": conv.bias})
    names = {"conv": conv, "linear": linear, "x": x}
    exec(ANSWER.text, names)
    weight, bias = conv.weight.detach().numpy(), conv.bias.detach().numpy()
    expected = np.empty((shape[0], 6, *shape[2:]), np.float32)
    for n, h, w in np.ndindex(shape[0], *shape[2:]):
        expected[n, :, h, w] = weight[:, :, 0, 0] @ x[n, :, h, w].numpy() + bias
        assert torch.equal(names["tokens"][n, h * shape[3] + w], x[n, :, h, w])
    for name in ("y", "same", "back"):
        found = names[name].detach().numpy()
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_demonstration():
    found = load_snippet("models/linear_or_conv1x1.py")
    assert torch.equal(found.linear.weight, found.conv.weight[:, :, 0, 0])
    torch.testing.assert_close(found.same, found.y)
    torch.testing.assert_close(found.back, found.y)


def test_equal_gradients_and_initial_weights():
    torch.manual_seed(0)
    conv = nn.Conv2d(5, 6, 1)
    torch.manual_seed(0)
    linear = nn.Linear(5, 6)
    assert torch.equal(conv.weight.flatten(1), linear.weight)
    assert torch.equal(conv.bias, linear.bias)
    x = torch.randn(2, 5, 3, 4)
    conv(x).square().sum().backward()
    linear(x.movedim(1, -1)).square().sum().backward()
    torch.testing.assert_close(conv.weight.grad.flatten(1), linear.weight.grad)
    torch.testing.assert_close(conv.bias.grad, linear.bias.grad)


def test_the_default_precision_on_a_gpu():
    assert torch.backends.cudnn.allow_tf32  # convolutions
    assert not torch.backends.cuda.matmul.allow_tf32


def test_without_a_bias():
    conv, x = nn.Conv2d(5, 6, 1, bias=False), torch.randn(2, 5, 3, 4)
    with raises_as_documented(PAGE, "TypeError: copy_()"), torch.no_grad():
        nn.Linear(5, 6).bias.copy_(conv.bias)
    linear = nn.Linear(5, 6, bias=False)
    with torch.no_grad():
        linear.weight.copy_(conv.weight.flatten(1))
    expected = np.einsum("nchw,dc->nhwd", x, linear.weight.detach())
    found = linear(x.movedim(1, -1)).detach()
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_rows():
    x = torch.randn(2, 5, 4, 6)
    conv = nn.Conv2d(5, 6, 1, stride=2)
    expected = F.conv2d(x, conv.weight, conv.bias)[..., ::2, ::2]
    torch.testing.assert_close(conv(x), expected)
    signal, linear = nn.Conv1d(5, 6, 1), nn.Linear(5, 6)
    linear.load_state_dict({"weight": signal.weight.flatten(1), "bias": signal.bias})
    x = x.flatten(2)
    torch.testing.assert_close(signal(x), linear(x.mT).mT)


def test_view_mixes_pixels_and_channels():
    x = torch.randn(2, 5, 3, 4)
    tokens = x.flatten(2).mT
    assert x.view(2, 12, 5).shape == tokens.shape
    assert not torch.equal(x.view(2, 12, 5), tokens)
    assert not torch.equal(tokens.reshape(2, 5, 3, 4), x)


def test_without_an_error_where_the_width_equals_the_channels():
    linear, x = nn.Linear(5, 6), torch.randn(2, 5, 3, 5)
    y = linear(x)
    other = x.clone()
    other[0, 0, 0, 0] += 1  # reaches its row of its own channel only
    changed = (linear(other) != y).any(-1).nonzero()
    assert changed.tolist() == [[0, 0, 0]]


def test_the_classification_token():
    x = torch.randn(2, 5, 3, 4)
    tokens = torch.cat([torch.zeros(2, 1, 5), x.flatten(2).mT], dim=1)
    assert torch.equal(tokens[:, 1:].mT.unflatten(2, (3, 4)), x)


def test_a_head_and_patches_as_convolutions():
    linear, conv = nn.Linear(5 * 7 * 7, 6), nn.Conv2d(5, 6, 7)
    weight = linear.weight.view(6, 5, 7, 7)
    conv.load_state_dict({"weight": weight, "bias": linear.bias})
    x = torch.randn(2, 5, 9, 8)
    y = conv(x)
    assert y.shape == (2, 6, 3, 2)
    for i, j in np.ndindex(3, 2):
        part = x[:, :, i : i + 7, j : j + 7].flatten(1)
        torch.testing.assert_close(y[:, :, i, j], linear(part), atol=1e-4, rtol=1e-4)

    conv, linear = nn.Conv2d(3, 6, 16, stride=16), nn.Linear(3 * 16 * 16, 6)
    linear.load_state_dict({"weight": conv.weight.flatten(1), "bias": conv.bias})
    image = torch.randn(2, 3, 32, 48)
    patches = F.unfold(image, 16, stride=16).mT
    expected = conv(image).flatten(2).mT
    torch.testing.assert_close(linear(patches), expected, atol=1e-4, rtol=1e-4)


def test_einsum():
    x, weight = torch.randn(2, 5, 3, 4), torch.randn(6, 5)
    found = torch.einsum("nchw,dc->ndhw", x, weight)
    torch.testing.assert_close(found, F.conv2d(x, weight[:, :, None, None]))


def test_the_messages():
    conv, linear = nn.Conv2d(64, 10, 1), nn.Linear(64, 10)
    x = torch.randn(2, 64, 8, 9)
    with raises_as_documented(PAGE, "RuntimeError: addmm"):
        linear(x)
    with raises_as_documented(PAGE, "RuntimeError: Given groups=1"):
        conv(torch.randn(2, 49, 64))
    state = conv.state_dict()
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in") as caught:
        linear.load_state_dict(state)
    assert "size mismatch for weight" in str(caught.value)
    state["weight"] = state["weight"].flatten(1)
    linear.load_state_dict(state)
    state["weight"] = state["weight"][:, :, None, None]
    conv.load_state_dict(state)
    with raises_as_documented(PAGE, "RuntimeError: a leaf Variable"):
        linear.weight.copy_(conv.weight.flatten(1))
    with raises_as_documented(PAGE, "RuntimeError: view size"):
        x.movedim(1, -1).view(2, -1)
