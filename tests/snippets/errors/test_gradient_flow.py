"""gradient-flow: each state made by hand, norms against a float64 formula."""

import math
import warnings

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, recipes

snippet = load_snippet("errors/gradient_flow.py")


def report(model):
    return {name: snippet.describe_gradient(p) for name, p in model.named_parameters()}


def test_the_norm_by_hand():
    model = nn.Linear(2, 1)
    model(torch.tensor([[3.0, 4.0]])).sum().backward()
    rows = report(model)
    assert rows == {"weight": "5e+00", "bias": "1e+00"}


def test_unused_frozen_and_zero():
    model = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1), nn.Linear(1, 1))
    model[1].requires_grad_(False)
    model[2](torch.zeros(1, 1)).sum().backward()
    assert report(model) == {
        "0.weight": "None",
        "0.bias": "None",
        "1.weight": "frozen",
        "1.bias": "frozen",
        "2.weight": "0e+00",
        "2.bias": "1e+00",
    }


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_not_finite(value):
    model = nn.Linear(1, 1)
    model(torch.full((1, 1), value)).sum().backward()
    assert report(model) == {"weight": str(value), "bias": "1e+00"}


def test_the_answer_keeps_long_names_apart(capsys):
    model = nn.Sequential(nn.TransformerEncoderLayer(4, 2, 8))
    exec(recipes()["gradient-flow"].answer.text, {"model": model})
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows == [["None", name] for name, _ in model.named_parameters()]


def test_before_backward_all_are_none():
    assert set(report(nn.Linear(1, 1)).values()) == {"None"}


def test_a_unit_is_dead_if_no_sample_passes():
    x = torch.tensor([[0.0, 0, 1, 2], [0, 3, 0, 4]])
    assert snippet.dead_share(x, -1) == 0.25
    assert snippet.dead_share(x.view(2, 1, 4).expand(2, 3, 4), -1) == 0.25
    assert snippet.dead_share(torch.tensor([[-1.0, 0], [-1, 0]]), -1) == 0.5


def test_the_units_of_a_convolution_are_its_channels():
    conv = nn.Conv2d(3, 4, 3)
    conv.bias.data[1] = -100
    h = conv(torch.rand(2, 3, 7, 8)).relu()
    h[:, 2, :, :3] = 0  # a part of a channel
    h[:, 0, 0, 0] = h[:, 2, 4, 4] = h[:, 3, 0, 0] = 1
    assert snippet.dead_share(h, 1) == 0.25
    assert snippet.dead_share(h.movedim(1, -1), -1) == 0.25


def test_dead_units_get_no_gradient():
    torch.manual_seed(0)
    layer = nn.Linear(4, 4)
    layer.bias.data[1] = -100
    h = layer(torch.randn(16, 4)).relu()
    h.sum().backward()
    assert snippet.dead_share(h, -1) == 0.25
    assert not layer.weight.grad[1].any()


def test_sigmoids_make_gradients_vanish():
    torch.manual_seed(0)
    layers = [m for _ in range(8) for m in (nn.Linear(8, 8), nn.Sigmoid())]
    model = nn.Sequential(*layers)
    model(torch.randn(4, 8)).sum().backward()
    rows = report(model)
    assert float(rows["0.weight"]) < 1e-4 * float(rows["14.weight"])


def test_an_intermediate_result_keeps_no_gradient_unless_told():
    x = torch.ones(1, requires_grad=True)
    for retain in (False, True):
        h = x * 2
        if retain:
            h.retain_grad()
        (h * 3).backward()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert (h.grad is None) is not retain
        assert bool(caught) is not retain


def test_a_scaler_starts_at_65536():
    assert torch.amp.GradScaler("cpu").get_scale() == 65536


def test_the_total_of_all_norms():
    model = nn.Linear(2, 1)
    model(torch.tensor([[3.0, 4.0]])).sum().backward()
    total = nn.utils.get_total_norm(p.grad for p in model.parameters())
    assert total.item() == pytest.approx(math.sqrt(25 + 1))
