"""detect-anomaly, the hooks: against the module that was broken on purpose."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/detect-anomaly"
check_outputs = load_snippet("errors/detect_anomaly_forward.py").check_outputs


class Break(nn.Module):
    """Return what it gets, with one element replaced."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, x):
        return torch.cat((x[:, :-1], torch.full_like(x[:, :1], self.value)), 1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("at", range(4))
def test_the_broken_module_is_named_however_deep(value, at):
    inner = nn.Sequential(nn.ReLU(), nn.Identity())
    layers = [nn.Linear(3, 3), inner, nn.Tanh()]
    names = ["model.0", "model.1.0", "model.1.1", "model.2"]
    if at in (1, 2):
        inner[at - 1] = Break(value)
    else:
        layers[0 if at == 0 else 2] = Break(value)
    model = nn.Sequential(*layers)
    check_outputs(model)
    with pytest.raises(FloatingPointError, match=rf"from {names[at]}: Break\(\)"):
        model(torch.ones(2, 3))


def test_a_model_of_one_module_has_a_name_too():
    model = Break(float("nan"))
    check_outputs(model)
    with pytest.raises(FloatingPointError, match=r"from model: Break\(\)"):
        model(torch.ones(2, 3))


def test_tuples_integers_and_others_pass_or_are_looked_into():
    class Several(nn.Module):
        def forward(self, x):
            return None, x.long(), {"x": x}, x

    model = Several()
    check_outputs(model)
    assert len(model(torch.ones(2))) == 4
    with pytest.raises(FloatingPointError, match="from model: Several"):
        model(torch.tensor([1.0, float("nan")]))
    model.forward = lambda x: {"loss": x.sum(), "cache": None}  # as in Transformers
    with pytest.raises(FloatingPointError, match="from model: Several"):
        model(torch.tensor([1.0, float("nan")]))
    lstm = nn.LSTM(2, 3)
    check_outputs(lstm)
    lstm(torch.ones(4, 1, 2))
    nn.init.constant_(lstm.bias_ih_l0, float("nan"))
    with pytest.raises(FloatingPointError, match="from model: LSTM"):
        lstm(torch.ones(4, 1, 2))


def test_a_sound_model_is_not_changed_and_removed_hooks_are_gone():
    model, x = nn.Sequential(nn.Linear(3, 3), nn.ReLU()), torch.ones(2, 3)
    before = model(x)
    handles = check_outputs(model)
    assert len(handles) == 3  # the model itself and its two layers
    torch.testing.assert_close(model(x), before, rtol=0, atol=0)
    for handle in handles:
        handle.remove()
    nn.init.constant_(model[0].bias, float("nan"))
    assert model(x).isnan().any()


def test_the_message():
    model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
    nn.init.constant_(model[2].weight, float("inf"))
    check_outputs(model)
    with raises_as_documented(PAGE, "FloatingPointError: NaN or inf from model.2"):
        model(torch.ones(1, 2))
