"""err-batchnorm-one-value: sizes that pass or not, and the statistics by hand."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/err-batchnorm-one-value"
snippet = load_snippet("errors/err_batchnorm_one_value.py")


def test_the_snippet_raises_the_error_and_drops_the_last_batch(capsys):
    load_snippet("errors/err_batchnorm_one_value.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("error: Expected more than 1 value per channel")
    assert lines[1:] == [
        *["train: torch.Size([4, 8])"] * 2,
        "predict: torch.Size([1, 8])",
    ]


def test_one_sample_is_normalised_with_the_averages():
    """By hand, in float64, from what the layer has collected."""
    linear, norm, _ = snippet.model
    x = snippet.dataset[:1]
    y = linear(x).double()
    y = (y - norm.running_mean) / (norm.running_var.double() + norm.eps).sqrt()
    by_hand = (y * norm.weight + norm.bias).clamp(min=0)
    torch.testing.assert_close(snippet.model(x).double(), by_hand, atol=1e-5, rtol=1e-5)
    assert not snippet.model.training


def test_one_value_raises_in_training():
    with raises_as_documented(PAGE, "ValueError: Expected more than 1 value"):
        nn.BatchNorm1d(8)(torch.zeros(1, 8))
    with pytest.raises(ValueError, match=r"\[1, 8, 1, 1\]"):
        nn.BatchNorm2d(8)(torch.zeros(1, 8, 1, 1))


@pytest.mark.parametrize("shape", [(2, 8, 1, 1), (1, 8, 2, 1)])
def test_two_values_pass(shape):
    assert nn.BatchNorm2d(8)(torch.randn(shape)).shape == shape


def test_without_averages_eval_raises_too():
    norm = nn.BatchNorm1d(8, track_running_stats=False).eval()
    with pytest.raises(ValueError, match="more than 1 value"):
        norm(torch.zeros(1, 8))


@pytest.mark.parametrize("norm", [nn.GroupNorm(4, 8), nn.LayerNorm(8)])
def test_other_norms_take_one_sample_and_ignore_the_rest_of_the_batch(norm):
    x = torch.randn(3, 8)
    torch.testing.assert_close(norm(x[:1]), norm(x)[:1])


def test_layers_in_eval_mode_train_on_one_sample():
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)).train()
    model[1].eval()
    before = model[1].running_mean.clone()
    model(torch.randn(1, 4)).sum().backward()
    assert model[0].bias.grad is not None
    torch.testing.assert_close(model[1].running_mean, before)


def test_neighbours():
    with raises_as_documented(PAGE, "ValueError: Expected more than 1 spatial"):
        nn.InstanceNorm2d(8)(torch.zeros(2, 8, 1, 1))
    with raises_as_documented(PAGE, "ValueError: expected 2D or 3D input"):
        nn.BatchNorm1d(8)(torch.zeros(8))
