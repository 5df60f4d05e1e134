"""port-tf-keras-weights: what each Keras layer computes, written in NumPy."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "models/port-tf-keras-weights"
ANSWER = recipes()["port-tf-keras-weights"].answer
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


class Keras:
    """A Keras layer as far as it is read: arrays, and perhaps an epsilon."""

    def __init__(self, *shapes, **settings):
        self.arrays = [torch.rand(shape).numpy() for shape in shapes]
        self.__dict__ |= settings

    def get_weights(self):
        return self.arrays


def copied(layer, *shapes, **settings):
    keras = Keras(*shapes, **settings)
    snippet.copy_keras(layer, keras)
    return layer, keras.arrays


def test_dense():
    dense, (kernel, bias) = copied(nn.Linear(5, 4), (5, 4), (4,))
    x = torch.rand(2, 5)
    expected = x.double().numpy() @ kernel + bias
    np.testing.assert_allclose(dense(x).detach(), expected, rtol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
def test_convolution(bias):
    conv = nn.Conv2d(5, 4, 3, bias=bias)
    conv, (kernel, *rest) = copied(conv, (3, 3, 5, 4), *[(4,)] * bias)
    x = torch.rand(2, 7, 6, 5)
    expected = np.einsum("nijhwc,hwco->nijo", windows(x.numpy()), kernel)
    close(conv, x, expected + sum(rest))


def test_convolution_of_sequences():
    conv, (kernel, bias) = copied(nn.Conv1d(5, 4, 3), (3, 5, 4), (4,))
    x = torch.rand(2, 7, 5)  # Keras: (N, steps, channels)
    views = np.lib.stride_tricks.sliding_window_view(x.numpy(), 3, 1)
    expected = np.einsum("nick,kco->nio", views, kernel) + bias
    y = conv(x.transpose(1, 2)).transpose(1, 2).detach()
    np.testing.assert_allclose(y, expected, rtol=1e-4)


def test_transposed_convolution():
    """Every pixel adds its kernel, (H, W, out, in), times itself."""
    conv = nn.ConvTranspose2d(5, 4, 3, stride=2)
    conv, (kernel, bias) = copied(conv, (3, 3, 4, 5), (4,))
    x = torch.rand(1, 3, 4, 5)
    expected = np.zeros((1, 7, 9, 4), "float32") + bias
    for i in range(3):
        for j in range(4):
            patch = np.einsum("hwoc,c->hwo", kernel, x[0, i, j].numpy())
            expected[0, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3] += patch
    close(conv, x, expected)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_depthwise_convolution(lang):
    page = (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8")
    shown = "kernel.permute(2, 3, 0, 1).flatten(0, 1).unsqueeze(1)"
    assert f"`{shown}`" in page
    kernel, x = torch.rand(3, 3, 4, 2), torch.rand(2, 7, 6, 4)
    conv = nn.Conv2d(4, 8, 3, groups=4, bias=False)
    conv.load_state_dict({"weight": eval(shown, {"kernel": kernel})})
    expected = np.einsum("nijhwc,hwcm->nijcm", windows(x.numpy()), kernel.numpy())
    close(conv, x, expected.reshape(2, 5, 4, 8))  # c * multiplier + m


@pytest.mark.parametrize("multiplier", [1, 2])
def test_copy_keras_takes_a_depthwise_convolution(multiplier):
    conv = nn.Conv2d(4, 4 * multiplier, 3, groups=4)
    shapes = (3, 3, 4, multiplier), (4 * multiplier,)
    conv, (kernel, bias) = copied(conv, *shapes, depth_multiplier=multiplier)
    x = torch.rand(2, 7, 6, 4)
    expected = np.einsum("nijhwc,hwcm->nijcm", windows(x.numpy()), kernel)
    close(conv, x, expected.reshape(2, 5, 4, -1) + bias)


def test_batch_norm():
    norm = nn.BatchNorm2d(4, momentum=0.01)
    norm, (gamma, beta, mean, var) = copied(norm, *[(4,)] * 4, epsilon=0.02)
    x = torch.rand(2, 3, 3, 4)
    close(norm, x, (x.numpy() - mean) / np.sqrt(var + 0.02) * gamma + beta)
    norm.train()(x.permute(0, 3, 1, 2))
    expected = 0.99 * mean + 0.01 * x.numpy().mean((0, 1, 2))
    np.testing.assert_allclose(norm.running_mean, expected, rtol=1e-5)


@pytest.mark.parametrize("missing", [1, 2])
def test_a_batch_norm_without_scale_or_center_is_refused(missing):
    with pytest.raises(RuntimeError, match="Missing key"):
        copied(nn.BatchNorm2d(4), *[(4,)] * (4 - missing), epsilon=1e-3)


def test_layer_norm():
    norm, (gamma, beta) = copied(nn.LayerNorm(4), (4,), (4,), epsilon=0.02)
    x = torch.rand(3, 4)
    centred = x.numpy() - x.numpy().mean(1, keepdims=True)
    scale = np.sqrt((centred**2).mean(1, keepdims=True) + 0.02)
    expected = centred / scale * gamma + beta
    np.testing.assert_allclose(norm(x).detach(), expected, rtol=1e-4, atol=1e-5)


def test_embedding():
    embedding, (table,) = copied(nn.Embedding(4, 4), (4, 4))  # square: not transposed
    ids = torch.tensor([3, 0])
    assert np.array_equal(embedding(ids).detach(), table[[3, 0]])


def test_a_layer_of_another_dtype():
    dense, (kernel, _) = copied(nn.Linear(5, 4).double(), (5, 4), (4,))
    assert dense.weight.dtype == torch.float64
    np.testing.assert_allclose(dense.weight.detach(), kernel.T)


class Own(nn.Module):
    """Names of its own, and layers without weights between."""

    def __init__(self, features=8):
        super().__init__()
        conv, norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)
        self.body = nn.ModuleDict({"conv": conv, "norm": norm, "act": nn.ReLU()})
        self.head = nn.Linear(features, 5)


def keras_model():
    conv, dense = Keras((3, 3, 3, 8), (8,)), Keras((8, 5), (5,))
    norm = Keras(*[(8,)] * 4, epsilon=1e-3)
    return SimpleNamespace(layers=[Keras(), conv, norm, Keras(), dense])


def test_the_answer_goes_through_a_whole_model():
    assert set(ANSWER.yours) == {"model", "keras_model"}
    model, keras = Own(), keras_model()
    exec(ANSWER.text, {"model": model, "keras_model": keras})
    _, conv, norm, _, dense = (layer.arrays for layer in keras.layers)
    got = model.state_dict()
    assert np.array_equal(got["body.conv.weight"][6, 1], conv[0][:, :, 1, 6])
    assert np.array_equal(got["body.norm.running_var"], norm[3])
    assert np.array_equal(got["head.weight"], dense[0].T)
    assert model.body["norm"].eps == 1e-3


def test_models_that_do_not_fit_are_refused():
    keras = keras_model()
    with pytest.raises(RuntimeError, match="size mismatch"):
        exec(ANSWER.text, {"model": Own(features=9), "keras_model": keras})
    del keras.layers[-1]
    with pytest.raises(ValueError, match="is shorter than argument 1"):
        exec(ANSWER.text, {"model": Own(), "keras_model": keras})


def test_a_model_inside_the_model_is_replaced_by_its_layers():
    """As in transfer learning: its weights come as one list."""
    model, keras = Own(), keras_model()
    inner = SimpleNamespace(layers=keras.layers[:3])
    arrays = [array for layer in inner.layers for array in layer.get_weights()]
    inner.get_weights = lambda: arrays
    nested = SimpleNamespace(layers=[inner, *keras.layers[3:]])
    with pytest.raises((RuntimeError, ValueError)):
        exec(ANSWER.text, {"model": model, "keras_model": nested})
    nested.layers[:1] = inner.layers
    exec(ANSWER.text, {"model": model, "keras_model": nested})
    assert np.array_equal(model.head.weight.detach(), keras.layers[4].arrays[0].T)


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
    x, hwio = torch.rand(1, side, side, 5), torch.rand(3, 3, 5, 4)
    padded = np.pad(x.numpy(), ((0, 0), (before, after), (before, after), (0, 0)))
    expected = np.einsum("nijhwc,hwco->nijo", windows(padded, stride=2), hwio.numpy())
    conv = nn.Conv2d(5, 4, 3, stride=2, bias=False)
    conv.load_state_dict({"weight": hwio.permute(3, 2, 0, 1)})
    own = F.pad(x.permute(0, 3, 1, 2), (before, after, before, after))
    close(conv, own.permute(0, 2, 3, 1), expected)
    conv.padding = (1, 1)  # symmetric: as many outputs, other values
    other = conv(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1).detach()
    assert other.shape == expected.shape
    assert np.allclose(other, expected, atol=1e-4) == (before == after)


def test_a_transposed_convolution_is_the_gradient_of_the_padded_one():
    """So TensorFlow defines it; of a kernel of 3, a stride of 2 and an even size."""
    x = torch.rand(1, 3, 8, 8, dtype=torch.float64, requires_grad=True)
    kernel = torch.rand(4, 3, 3, 3, dtype=torch.float64)
    y = F.conv2d(F.pad(x, (0, 1, 0, 1)), kernel, stride=2)
    g = torch.rand_like(y)
    (expected,) = torch.autograd.grad(y, x, g)
    torch.testing.assert_close(
        F.conv_transpose2d(g, kernel, stride=2)[..., :-1, :-1], expected
    )
    other = F.conv_transpose2d(g, kernel, stride=2, padding=1, output_padding=1)
    assert other.shape == expected.shape
    assert not torch.allclose(other, expected)


def test_batch_norm_without_gamma():
    beta, mean, variance = arrays = np.random.default_rng(0).random((3, 5), "float32")
    norm = nn.BatchNorm1d(5)
    with pytest.raises(RuntimeError, match=r"Missing key.*running_var"):
        snippet.copy_keras(norm, SimpleNamespace(get_weights=lambda: [*arrays]))
    given = [np.ones_like(beta), *arrays]
    snippet.copy_keras(norm, SimpleNamespace(get_weights=lambda: given, epsilon=1e-3))
    x = np.ones((4, 5), "float32")
    expected = (x - mean) / np.sqrt(variance + 1e-3) + beta
    found = norm.eval()(torch.from_numpy(x)).detach()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_flatten_keeps_another_order():
    x = torch.rand(2, 3, 4, 5)  # N, H, W, C
    own = x.permute(0, 3, 1, 2)
    assert not torch.equal(own.flatten(1), x.flatten(1))
    assert torch.equal(own.permute(0, 2, 3, 1).flatten(1), x.flatten(1))


def test_the_documented_errors():
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading state_dict"):
        weights = {"weight": torch.rand(5, 4), "bias": torch.rand(4)}
        nn.Linear(5, 4).load_state_dict(weights)
    with raises_as_documented(PAGE, "ValueError: padding='same' is not supported"):
        nn.Conv2d(5, 4, 3, stride=2, padding="same")
    square = nn.Linear(4, 4, bias=False)
    square.load_state_dict({"weight": torch.rand(4, 4)})  # nothing is noticed
