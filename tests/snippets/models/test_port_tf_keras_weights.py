"""port-tf-keras-weights: what each Keras layer computes, written in NumPy."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/port-tf-keras-weights"
snippet = load_snippet("models/port_tf_keras_weights.py")


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def close(module, x, expected):
    """Compare for x and expected of Keras's layout, channels last."""
    with torch.no_grad():
        y = module.eval()(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


def windows(x, size=3, stride=1):
    """(N, H', W', size, size, C) of an array (N, H, W, C)."""
    views = np.lib.stride_tricks.sliding_window_view(x, (size, size), (1, 2))
    return views.transpose(0, 1, 2, 4, 5, 3)[:, ::stride, ::stride]


def test_dense():
    x = snippet.x.double().numpy()
    expected = x @ snippet.kernel.double().numpy() + snippet.bias.double().numpy()
    np.testing.assert_allclose(snippet.dense(snippet.x).detach(), expected, rtol=1e-5)


def test_convolutions():
    x = torch.rand(2, 7, 6, 5)
    expected = np.einsum("nijhwc,hwco->nijo", windows(x.numpy()), snippet.hwio.numpy())
    close(snippet.conv, x, expected + snippet.bias.numpy())
    x = torch.rand(2, 7, 6, 4)
    expected = np.einsum("nijhwc,hwcm->nijcm", windows(x.numpy()), snippet.hwcm.numpy())
    close(snippet.depthwise, x, expected.reshape(2, 5, 4, 8))  # c * multiplier + m


def test_batch_norm():
    x = torch.rand(2, 3, 3, 4)
    gamma, beta, mean, var = (
        t.numpy() for t in (snippet.gamma, snippet.beta, snippet.mean, snippet.var)
    )
    norm = snippet.norm
    close(norm, x, (x.numpy() - mean) / np.sqrt(var + 1e-3) * gamma + beta)
    norm.train()(x.permute(0, 3, 1, 2))
    expected = 0.99 * mean + 0.01 * x.numpy().mean((0, 1, 2))
    np.testing.assert_allclose(norm.running_mean, expected, rtol=1e-5)


def test_lstm():
    """Keras: the gates i, f, c, o, one after the other, with one bias."""
    x = torch.rand(2, 4, 5)
    k, r, b = (t.double().numpy() for t in (snippet.k, snippet.r, snippet.b))
    h, c, expected = np.zeros((2, 6)), np.zeros((2, 6)), []
    for step in x.double().numpy().transpose(1, 0, 2):
        i, f, g, o = np.split(step @ k + h @ r + b, 4, axis=1)
        i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
        expected.append(h)
    y, _ = snippet.lstm(x)
    np.testing.assert_allclose(y.detach(), np.stack(expected, 1), rtol=1e-4)


def test_gru():
    """Keras: the gates z, r, h, one after the other, with two biases."""
    k, r, b = torch.rand(5, 18), torch.rand(6, 18), torch.rand(2, 18)
    x, h, expected = torch.rand(2, 4, 5), np.zeros((2, 6)), []
    for step in x.double().numpy().transpose(1, 0, 2):
        a = step @ k.double().numpy() + b[0].double().numpy()
        c = h @ r.double().numpy() + b[1].double().numpy()
        update, reset = (1 / (1 + np.exp(-(a + c)[:, s : s + 6])) for s in (0, 6))
        new = np.tanh(a[:, 12:] + reset * c[:, 12:])
        h = update * h + (1 - update) * new
        expected.append(h)
    parts = {"weight_ih_l0": k.T, "weight_hh_l0": r.T}
    parts |= {"bias_ih_l0": b[0], "bias_hh_l0": b[1]}
    gru = nn.GRU(5, 6, batch_first=True)
    gru.load_state_dict(
        {n: torch.cat((p[6:12], p[:6], p[12:])) for n, p in parts.items()}
    )
    np.testing.assert_allclose(gru(x)[0].detach(), np.stack(expected, 1), rtol=1e-4)


@pytest.mark.parametrize(("side", "before", "after"), [(8, 0, 1), (7, 1, 1)])
def test_same_padding_with_a_stride(side, before, after):
    total = max((-(-side // 2) - 1) * 2 + 3 - side, 0)
    assert (total // 2, total - total // 2) == (before, after)  # TensorFlow's formula
    x = torch.rand(1, side, side, 5)
    padded = np.pad(x.numpy(), ((0, 0), (before, after), (before, after), (0, 0)))
    expected = np.einsum(
        "nijhwc,hwco->nijo", windows(padded, stride=2), snippet.hwio.numpy()
    )
    conv = nn.Conv2d(5, 4, 3, stride=2, bias=False)
    conv.load_state_dict({"weight": snippet.hwio.permute(3, 2, 0, 1)})
    own = F.pad(x.permute(0, 3, 1, 2), (before, after, before, after))
    close(conv, own.permute(0, 2, 3, 1), expected)
    conv.padding = (1, 1)  # symmetric: as many outputs, other values
    other = conv(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1).detach()
    assert other.shape == expected.shape
    assert np.allclose(other, expected, atol=1e-4) == (before == after)


def test_flatten_keeps_another_order():
    x = torch.rand(2, 3, 4, 5)  # N, H, W, C
    own = x.permute(0, 3, 1, 2)
    assert not torch.equal(own.flatten(1), x.flatten(1))
    assert torch.equal(own.permute(0, 2, 3, 1).flatten(1), x.flatten(1))


def test_the_documented_errors():
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading state_dict"):
        snippet.dense.load_state_dict({"weight": snippet.kernel, "bias": snippet.bias})
    with raises_as_documented(PAGE, "ValueError: padding='same' is not supported"):
        nn.Conv2d(5, 4, 3, stride=2, padding="same")
    square = nn.Linear(4, 4, bias=False)
    square.load_state_dict({"weight": torch.rand(4, 4)})  # nothing is noticed
