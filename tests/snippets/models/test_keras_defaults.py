"""keras-defaults: layers start as Keras says; PyTorch's defaults are as written."""

import inspect
import math

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet

keras_defaults = load_snippet("models/keras_defaults.py").keras_defaults


@pytest.mark.parametrize(
    ("layer", "fans"),
    [
        (nn.Linear(300, 100), 400),
        (nn.Conv2d(30, 20, 3), 9 * 50),
        (nn.Conv1d(30, 50, 5, bias=False), 5 * 80),
    ],
)
def test_glorot_uniform(layer, fans):
    nn.Sequential(layer).apply(keras_defaults)
    weight, limit = layer.weight.detach().numpy(), math.sqrt(6 / fans)
    assert np.abs(weight).max() <= limit
    assert weight.std() == pytest.approx(limit / math.sqrt(3), rel=0.05)
    assert layer.bias is None or not layer.bias.any()


def test_the_other_layers():
    layers = nn.BatchNorm2d(4), nn.BatchNorm1d(4), nn.LayerNorm(4), nn.Embedding(500, 8)
    nn.Sequential(*layers).apply(keras_defaults)
    assert [layer.eps for layer in layers[:3]] == [1e-3] * 3
    assert [layer.momentum for layer in layers[:2]] == [0.01] * 2
    assert 0.045 < layers[3].weight.abs().max() <= 0.05
    padded = nn.Embedding(500, 8, padding_idx=1).apply(keras_defaults)
    words = padded.weight.detach().numpy()[[0, *range(2, 500)]]
    assert words.std() == pytest.approx(0.1 / math.sqrt(12), rel=0.05)
    assert np.abs(words).max() <= 0.05
    assert not padded.weight[1].any()


def default(thing, name):
    return inspect.signature(thing).parameters[name].default


def test_what_the_table_says_of_pytorch():
    assert default(nn.BatchNorm2d, "momentum") == 0.1
    assert default(nn.BatchNorm2d, "eps") == 1e-5
    assert default(torch.optim.Adam, "eps") == 1e-8
    assert default(torch.optim.AdamW, "weight_decay") == 1e-2
    assert default(torch.optim.RMSprop, "lr") == 1e-2
    assert default(torch.optim.RMSprop, "alpha") == 0.99
    assert default(nn.LeakyReLU, "negative_slope") == 1e-2
    loader = torch.utils.data.DataLoader(range(4))
    assert [batch.tolist() for batch in loader] == [[0], [1], [2], [3]]
    for layer in nn.Linear(50, 900), nn.LSTM(3, 50):
        for p in layer.parameters():
            assert 0.9 / math.sqrt(50) < p.abs().max() <= 1 / math.sqrt(50)
    assert nn.Embedding(900, 9).weight.std().item() == pytest.approx(1, rel=0.05)


def test_l2_is_half_the_weight_decay():
    w = torch.tensor([0.5, -2], requires_grad=True)
    (0.01 * w.square().sum()).backward()
    before, plain = w.detach().numpy().copy(), w.grad.numpy().copy()
    w.grad.zero_()
    torch.optim.SGD([w], lr=1, weight_decay=2 * 0.01).step()
    np.testing.assert_allclose(w.detach().numpy(), before - plain)


def test_momentum_takes_steps():
    norm = nn.Sequential(nn.BatchNorm1d(1)).apply(keras_defaults)[0]
    x = torch.randn(64, 1) + 10  # (N, 1)
    for _ in range(500):
        norm(x)
    assert norm.running_mean.item() == pytest.approx(x.mean().item(), rel=0.01)
    assert 1 - 0.99**500 > 0.99 > 1 - 0.99**400
