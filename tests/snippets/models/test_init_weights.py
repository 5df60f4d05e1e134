"""init-weights: the spread of each layer's weights against formulas worked by hand."""

import math

import pytest
import torch
from torch import nn
from torch.nn import init
from torchvision import models

from tests.helpers import load_snippet, raises_as_documented

init_weights = load_snippet("models/init_weights.py").init_weights
PAGE = "models/init-weights"


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def spoil(module):
    """Fill everything with 7, so that an untouched value is seen."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(7)
    return module


@pytest.mark.parametrize(
    ("layer", "variance"),
    [
        (nn.Linear(256, 128), 2 / 256),
        (nn.Conv1d(64, 32, 5), 2 / (64 * 5)),
        (nn.Conv2d(32, 96, 3), 2 / (32 * 9)),
        (nn.Conv3d(16, 24, 3), 2 / (16 * 27)),
        (nn.Conv2d(128, 256, 5, groups=128), 2 / 25),  # one input channel each
    ],
    ids=repr,
)
def test_variance_is_two_over_fan_in_and_the_bias_zero(layer, variance):
    assert init_weights(spoil(layer)) is None
    weight = layer.weight.detach()
    assert weight.var().item() == pytest.approx(variance, rel=0.1)
    assert abs(weight.mean().item()) < 0.1 * math.sqrt(variance)
    # 4.6 % of a normal distribution lie beyond two standard deviations.
    beyond = (weight.abs() > 2 * math.sqrt(variance)).float().mean().item()
    assert beyond == pytest.approx(0.0455, abs=0.01)
    assert not layer.bias.any()
    assert layer.weight.requires_grad
    assert layer.bias.requires_grad


@pytest.mark.parametrize(
    "layer", [nn.BatchNorm1d(4), nn.BatchNorm2d(4), nn.LayerNorm(4)], ids=repr
)
def test_norms_become_the_identity(layer):
    init_weights(spoil(layer))
    assert layer.weight.tolist() == [1] * 4
    assert layer.bias.tolist() == [0] * 4


@pytest.mark.parametrize(
    "layer",
    [
        nn.Linear(2, 2, bias=False),
        nn.Conv2d(2, 2, 1, bias=False),
        nn.BatchNorm2d(2, affine=False),
        nn.LayerNorm(2, elementwise_affine=False),
        nn.LayerNorm(2, bias=False),
    ],
    ids=repr,
)
def test_missing_weights_and_biases_are_no_error(layer):
    init_weights(spoil(layer))
    assert layer.bias is None
    assert not any((parameter == 7).any() for parameter in layer.parameters())


@pytest.mark.parametrize(
    "norm",
    [
        nn.BatchNorm1d(2),
        nn.BatchNorm2d(2),
        nn.BatchNorm3d(2),
        nn.LayerNorm(2),
        nn.GroupNorm(1, 2),
    ],
    ids=repr,
)
def test_norms_start_again(norm):
    init_weights(spoil(norm))
    assert norm.weight.tolist() == [1, 1]
    assert norm.bias.tolist() == [0, 0]


def test_other_modules_are_left_alone():
    transposed = nn.ConvTranspose2d(1, 1, 1)
    for module in nn.Bilinear(2, 2, 2), nn.PReLU(), nn.Embedding(2, 2), transposed:
        init_weights(spoil(module))
        assert all((parameter == 7).all() for parameter in module.parameters())


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent_layers(kind):
    layer = spoil(kind(64, 64, num_layers=2, bidirectional=True))
    init_weights(layer)
    for name, p in layer.named_parameters():
        if "bias" in name:
            assert not p.any()
        elif "weight_hh" in name:  # (gates * H, H), with orthonormal columns
            torch.testing.assert_close(p.T @ p, torch.eye(64))
        else:  # uniform within the bound of Glorot and Bengio
            bound = math.sqrt(6 / sum(p.shape))
            assert 0.99 * bound < p.abs().max() <= bound
    assert init_weights(kind(2, 2, bias=False)) is None


def test_the_second_quarter_of_a_bias_is_the_forget_gate():
    H, x = 3, torch.zeros(1, 1, 2)
    lstm = nn.LSTM(2, H)
    state = torch.zeros(1, 1, H), torch.ones(1, 1, H)
    with torch.no_grad():
        for p in lstm.parameters():
            p.zero_()
        lstm.bias_ih_l0[H : 2 * H] = 1
        kept = lstm(x, state)[1][1]
    assert kept.flatten().tolist() == pytest.approx([1 / (1 + math.exp(-1))] * H)


def test_apply_reaches_every_level_and_the_optimizer_still_holds_the_weights():
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.BatchNorm1d(2))
    before = list(model.parameters())
    seen = []
    model.apply(lambda module: seen.append(type(module)))
    assert seen[-1] is nn.Sequential
    assert seen[0] is nn.Linear  # the model comes last
    spoil(model).apply(init_weights)
    for old, new in zip(before, model.parameters(), strict=True):
        assert old is new
        assert not (new == 7).any()


def deep(layer, depth=20):
    return nn.Sequential(*[m for _ in range(depth) for m in (layer(), nn.ReLU())])


def linear():
    return nn.Linear(128, 128, bias=False)


def mean_square(model, x):
    with torch.no_grad():
        return model(x).square().mean().item()


def test_the_scale_survives_kaiming_and_halves_with_xavier():
    x = torch.randn(512, 128)
    model = deep(linear, 1).apply(init_weights)
    assert mean_square(model, x) == pytest.approx(1, rel=0.1)
    init.xavier_normal_(model[0].weight)
    assert mean_square(model, x) == pytest.approx(0.5, rel=0.1)
    init.xavier_normal_(model[0].weight, gain=init.calculate_gain("relu"))
    assert mean_square(model, x) == pytest.approx(1, rel=0.1)
    model = deep(linear).apply(init_weights)
    assert 0.1 < mean_square(model, x) < 10
    for layer in model[::2]:
        init.xavier_normal_(layer.weight)
    assert 1e-7 < mean_square(model, x) < 1e-5  # 2**-20 is about a millionth
    assert model.to(torch.float64).apply(init_weights)[0].weight.dtype == torch.float64


def test_by_default_the_variance_is_a_sixth():
    for layer in nn.Linear(256, 128), nn.Conv2d(64, 64, 3):
        fan_in = layer.weight[0].numel()
        assert layer.weight.var().item() == pytest.approx(1 / (3 * fan_in), rel=0.05)


def test_a_transposed_convolution_needs_fan_out_and_its_stride():
    layer = nn.ConvTranspose2d(96, 32, 3)
    init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    assert layer.weight.var().item() == pytest.approx(2 / (96 * 9), rel=0.1)
    layer = nn.ConvTranspose2d(64, 64, 4, stride=2, bias=False)
    init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    x = torch.randn(4, 64, 16, 16).relu()
    with torch.no_grad():
        layer.weight.mul_(2)  # the stride, in 2-D
        inner = layer(x)[..., 8:-8, 8:-8].square().mean().item()
    assert inner == pytest.approx(1, rel=0.15)


def test_leaky_relu_keeps_the_scale():
    weight = init.kaiming_normal_(torch.empty(256, 512), a=0.1)
    y = nn.functional.leaky_relu(torch.randn(4096, 512) @ weight.T, 0.1)
    assert y.square().mean().item() == pytest.approx(1, rel=0.05)


def test_the_bounds_of_trunc_normal_are_values_not_multiples_of_std():
    weight = init.trunc_normal_(torch.empty(100_000), std=0.02)
    assert weight.abs().max() > 3 * 0.02
    weight = init.trunc_normal_(torch.empty(100_000), std=0.02, a=-0.04, b=0.04)
    assert weight.abs().max() <= 0.04


def test_parts_can_be_initialised_alone_and_set_back():
    model = spoil(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)))
    model[1].apply(init_weights)
    assert (model[0].weight == 7).all()
    assert not (model[1].weight == 7).any()
    model[0].reset_parameters()
    assert not (model[0].weight == 7).any()
    resnet = models.resnet18(zero_init_residual=True)
    assert not resnet.layer1[0].bn2.weight.any()


def test_the_documented_errors():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2, affine=False))
    with raises_as_documented(PAGE, "AttributeError: 'NoneType' object has"):
        for m in model.modules():
            if isinstance(m, nn.BatchNorm1d):
                m.weight.data.fill_(1)
    with raises_as_documented(PAGE, "ValueError: Fan in and"):
        for p in model.parameters():
            init.kaiming_normal_(p)
    with raises_as_documented(PAGE, "TypeError: init_weights() missing 1"):
        model.apply(init_weights())
    with raises_as_documented(PAGE, "FutureWarning: `nn.init.xavier_uniform` is now"):
        init.xavier_uniform(model[0].weight)
    with raises_as_documented(PAGE, "RuntimeError: Can't access the"):
        nn.LazyLinear(2).apply(init_weights)
