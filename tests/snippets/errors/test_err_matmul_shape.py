"""err-matmul-shape: sizes by hand, products in NumPy, and every quoted message."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/err-matmul-shape"
snippet = load_snippet("errors/err_matmul_shape.py")


def test_the_size_is_that_of_the_formula():
    """Kernel 5 takes 4 pixels away, the pool halves, twice; 16 channels."""
    side = ((28 - 4) // 2 - 4) // 2
    assert snippet.x.shape == (64, 16 * side * side) == (64, 256)
    assert snippet.fc.in_features == 256
    assert snippet.fc.weight.shape == snippet.lazy.weight.shape == (120, 256)
    assert snippet.conv(torch.zeros(1, 1, 28, 28)).flatten(1).shape[1] == 256


def test_the_layer_multiplies_by_the_transposed_weight():
    w, b = (p.detach().numpy() for p in snippet.fc.parameters())
    x = snippet.x.detach().numpy()
    expected = torch.from_numpy(x @ w.T + b)
    torch.testing.assert_close(snippet.fc(snippet.x), expected, atol=1e-4, rtol=1e-4)


def test_flatten_keeps_each_sample_together():
    x = torch.randn(3, 2, 4, 5)
    expected = np.stack([sample.ravel() for sample in x.numpy()])
    assert np.array_equal(x.flatten(1).numpy(), expected)


def test_the_snippet_prints_the_message_and_the_sizes(capsys):
    load_snippet("errors/err_matmul_shape.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("shapes cannot be multiplied (64x256 and 400x120)")
    assert lines[1:] == [
        "Conv2d (64, 6, 24, 24)",
        "MaxPool2d (64, 6, 12, 12)",
        "Conv2d (64, 16, 8, 8)",
        "MaxPool2d (64, 16, 4, 4)",
        "256",
    ]


def test_linear_raises_what_the_page_quotes():
    with raises_as_documented(PAGE, "RuntimeError: addmm: mat1"):
        nn.Linear(400, 120)(torch.randn(64, 256))
    with raises_as_documented(PAGE, "RuntimeError: mm: mat1"):
        nn.Linear(400, 120, bias=False)(torch.randn(64, 256))
    with raises_as_documented(PAGE, "RuntimeError: mm: mat1"):
        torch.randn(64, 256) @ torch.randn(400, 120)


@pytest.mark.parametrize(
    ("wrong", "shapes", "fixed"),
    [
        (lambda x: x, r"\(320x5 and 400x120\)", lambda x: x.flatten(1)),
        (torch.flatten, r"\(1x1600 and 400x120\)", lambda x: x.flatten(1)),
        (lambda x: x.flatten(1).T, r"\(400x4 and 400x120\)", lambda x: x.flatten(1)),
    ],
    ids=["not flattened", "batch flattened too", "transposed"],
)
def test_the_rows_tell_the_cause(wrong, shapes, fixed):
    x, fc = torch.randn(4, 16, 5, 5), nn.Linear(400, 120)
    with pytest.raises(RuntimeError, match=shapes):
        fc(wrong(x))
    assert fc(fixed(x)).shape == (4, 120)


def test_one_image_without_a_batch():
    model = nn.Sequential(snippet.conv, nn.Flatten(), nn.Linear(400, 120))
    image = torch.randn(1, 32, 32)
    with pytest.raises(RuntimeError, match=r"\(16x25 and 400x120\)"):
        model(image)
    assert model(image.unsqueeze(0)).shape == (1, 120)


@pytest.mark.parametrize("side", [28, 32, 64, 100])
def test_an_adaptive_pool_takes_images_of_any_size(side):
    net = nn.Sequential(snippet.conv, nn.AdaptiveAvgPool2d(5), nn.Flatten())
    assert net(torch.randn(2, 1, side, side)).shape == (2, 400)


def test_view_by_the_feature_number_mixes_samples():
    x = torch.arange(64.0).view(64, 1).repeat(1, 400).view(64, 16, 5, 5)
    mixed = x.view(-1, 800)
    assert mixed.shape == (32, 800)
    assert mixed[0].unique().tolist() == [0, 1]  # two samples in a row
    target = torch.zeros(64, dtype=torch.long)
    with raises_as_documented(PAGE, "ValueError: Expected input batch_size"):
        F.cross_entropy(nn.Linear(800, 10)(mixed), target)


def test_a_lazy_layer_needs_a_batch_first():
    model = nn.Sequential(nn.Flatten(), nn.LazyLinear(120))
    with raises_as_documented(PAGE, "ValueError: Attempted to use an uninit"):
        sum(p.numel() for p in model.parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.zeros(1, 1, 28, 28))
    assert sum(p.numel() for p in model.parameters()) == 784 * 120 + 120
    assert optimizer.param_groups[0]["params"][0] is model[1].weight


@pytest.mark.parametrize(
    ("start", "call"),
    [
        ("RuntimeError: size mismatch, got", lambda x: x @ torch.randn(400)),
        (
            "RuntimeError: a and b must have",
            lambda x: nn.Linear(400, 120, device="meta")(x.to("meta")),
        ),
        ("RuntimeError: Given normalized_shape", nn.LayerNorm(400)),
        ("RuntimeError: running_mean should", nn.BatchNorm1d(400)),
        ("RuntimeError: input.size(-1) must", nn.LSTM(400, 8)),
        (
            "AssertionError: was expecting embedding",
            lambda x: nn.TransformerEncoderLayer(400, 8)(x),
        ),
    ],
    ids=["vector", "compile", "layer norm", "batch norm", "lstm", "transformer"],
)
def test_other_layers_raise_what_the_page_quotes(start, call):
    with raises_as_documented(PAGE, start):
        call(torch.randn(64, 256))


def test_hooks_print_every_shape(capsys):
    def show(module, inputs, out):
        print(type(module).__name__, tuple(inputs[0].shape), tuple(out.shape))

    model = nn.Sequential(nn.Flatten(), nn.Linear(12, 5))
    for m in model.modules():
        m.register_forward_hook(show)
    model(torch.zeros(2, 3, 4))
    assert "Linear (2, 12) (2, 5)" in capsys.readouterr().out
