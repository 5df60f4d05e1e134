"""parametrizations: values by NumPy, keys, copies, and the messages."""

import copy
import io
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

from tests.helpers import (
    assert_documented,
    load_snippet,
    raises_as_documented,
    recipes,
)

PAGE = "models/parametrizations"
ANSWER = recipes()["parametrizations"].answer
Positive = load_snippet("models/positive_weight.py").Positive


class NoInverse(nn.Module):
    def forward(self, raw):
        return nn.functional.softplus(raw)


def positive(module=None):
    layer = nn.Linear(3, 2)
    nn.init.uniform_(layer.weight, 0.1, 2)
    return parametrize.register_parametrization(layer, "weight", module or Positive())


def test_a_weight_is_kept_set_and_removed():
    layer = nn.Linear(3, 2)
    nn.init.uniform_(layer.weight, 0.1, 2)
    before = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Positive())
    torch.testing.assert_close(layer.weight.detach(), before)
    layer.weight = torch.full((2, 3), 0.3)
    torch.testing.assert_close(layer.weight.detach(), torch.full((2, 3), 0.3))
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear
    torch.testing.assert_close(layer.weight.detach(), torch.full((2, 3), 0.3))


def test_what_does_not_change_the_weight():
    layer = positive(NoInverse())
    before = layer.weight.detach().clone()
    nn.init.ones_(layer.weight)
    layer.weight.data.fill_(1)
    assert torch.equal(layer.weight, before)
    assert NoInverse()(torch.zeros(())).item() == pytest.approx(math.log(2))


def test_adam_pushes_against_a_clamp():
    """After the target has changed, the clamped weight stays at 0 for a while."""
    weight = nn.Parameter(torch.tensor(1.0))
    optimizer = torch.optim.Adam([weight], lr=0.1)
    stuck = 0
    for step in range(60):
        optimizer.zero_grad()
        (-weight if step >= 40 else weight).backward()
        optimizer.step()
        weight.data.clamp_(min=0)
        stuck += step >= 40 and weight.item() == 0
    assert stuck > 3


@pytest.mark.parametrize(
    "layer",
    [nn.Linear(8, 4), nn.Linear(4, 8).bfloat16(), nn.Conv2d(3, 6, 3), nn.Linear(3, 3)],
    ids=str,
)
def test_the_answer_on_any_layer(layer):
    torch.manual_seed(0)
    nn.init.normal_(layer.weight)
    before = layer.weight.detach().clone()
    exec(ANSWER.text, {"layer": layer})
    for _ in range(30):  # in train() mode every forward goes on with the estimate
        weight = layer.weight.detach()
    matrix = weight.flatten(1).double().numpy()
    assert np.linalg.norm(matrix, 2) == pytest.approx(1, abs=0.02)
    ratio = before.flatten(1).double().numpy() / matrix
    np.testing.assert_allclose(ratio, ratio.mean(), rtol=0.02)  # a scale, no more
    assert weight.dtype == before.dtype


def test_the_demonstration(capsys):
    snippet = load_snippet("models/parametrizations.py")
    assert "largest singular value: 1.0" in capsys.readouterr().out
    assert type(snippet.layer) is nn.Linear
    rows = snippet.ortho.weight.detach().double().numpy()
    np.testing.assert_allclose(rows @ rows.T, np.eye(4), atol=1e-5)
    length, way = (
        p.detach() for p in snippet.normed.parametrizations.weight.parameters()
    )
    assert length.shape == (4, 1)
    weight = snippet.normed.weight.detach()
    torch.testing.assert_close(weight, length * way / way.norm(dim=1, keepdim=True))


def test_the_built_in_ones():
    torch.manual_seed(0)
    layer = parametrizations.spectral_norm(nn.Linear(5, 4), n_power_iterations=50)
    layer(torch.ones(1, 5))
    assert np.linalg.norm(layer.weight.detach().numpy(), 2) == pytest.approx(
        1, abs=1e-3
    )
    old = nn.Linear(5, 4)
    with pytest.warns(FutureWarning, match="deprecated") as caught:
        old = torch.nn.utils.weight_norm(old)
    assert_documented(PAGE, "FutureWarning", f"FutureWarning: {caught[0].message}")
    assert set(old.state_dict()) == {"bias", "weight_g", "weight_v"}
    new = parametrizations.weight_norm(nn.Linear(5, 4))
    new.load_state_dict(old.state_dict())
    x = torch.randn(2, 5)
    torch.testing.assert_close(new(x), old(x))
    with raises_as_documented(PAGE, "ValueError: weight_norm of 'weight' not found"):
        torch.nn.utils.remove_weight_norm(new)
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(old, "weight")


def test_cached_computes_once():
    calls = []
    layer = positive()
    layer.parametrizations.weight[0].register_forward_hook(lambda *_: calls.append(1))
    with parametrize.cached():
        layer(torch.ones(1, 3))
        layer(torch.ones(1, 3))
    assert len(calls) == 1


def test_messages():
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading"):
        positive().load_state_dict(nn.Linear(3, 2).state_dict())
    with raises_as_documented(PAGE, "RuntimeError: Serialization of"):
        torch.save(positive(), io.BytesIO())
    layer = positive()
    parametrize.remove_parametrizations(copy.deepcopy(layer), "weight")
    with raises_as_documented(PAGE, "AttributeError: 'ParametrizedLinear'"):
        layer(torch.ones(1, 3))


def test_no_inverse(monkeypatch):
    layer = positive()
    monkeypatch.delattr(Positive, "right_inverse")
    with raises_as_documented(PAGE, "RuntimeError: parametrization Positive"):
        layer.weight = torch.ones(2, 3)


def test_orthogonal_needs_float32():
    assert parametrizations.orthogonal(nn.Linear(8, 4)).weight.shape == (4, 8)
    layer = parametrizations.orthogonal(nn.Linear(8, 4).bfloat16())
    with raises_as_documented(PAGE, 'NotImplementedError: "orgqr_cpu"'):
        layer(torch.ones(1, 8).bfloat16())


def test_weight_norm_replaces_the_parameter():
    layer = nn.Linear(4, 3)
    for change in (
        parametrizations.weight_norm,
        lambda layer: parametrize.remove_parametrizations(layer, "weight"),
    ):
        before = {id(p) for p in layer.parameters()}
        change(layer)
        assert before & {id(p) for p in layer.parameters()} == {id(layer.bias)}


def test_a_weight_of_zeros_has_no_spectral_norm():
    layer = nn.Linear(4, 3)
    nn.init.zeros_(layer.weight)
    assert parametrizations.spectral_norm(layer).weight.isnan().all()


def test_how_far_a_convolution_enlarges():
    conv = nn.Conv2d(1, 1, 3, padding=1, bias=False)
    nn.init.ones_(conv.weight)
    x = torch.ones(1, 1, 32, 32)
    larger = parametrizations.spectral_norm(conv)(x).norm() / x.norm()
    assert 2.8 < larger.item() < 3
