"""l1-l2-regularization: steps worked by hand, and gradients of the penalties."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet

PATH = "training/l1_l2_regularization.py"
snippet = load_snippet(PATH)


def step(optimizer, gradient, **options):
    """One step from w = 1 with this gradient."""
    w = nn.Parameter(torch.ones(1))
    w.grad = torch.tensor([gradient])
    optimizer([w], lr=0.1, **options).step()
    return w.item()


@pytest.mark.parametrize("gradient", [0.0, 10.0])
def test_adamw_decays_apart_from_the_gradient(gradient):
    adam = step(torch.optim.Adam, gradient)  # moves by lr, or not at all
    expected = adam - 0.1 * 0.1
    decayed = step(torch.optim.AdamW, gradient, weight_decay=0.1)
    assert decayed == pytest.approx(expected, abs=1e-6)


def test_adam_swallows_the_decay(capsys):
    for gradient in (0.0, 10.0):
        w = step(torch.optim.Adam, gradient, weight_decay=0.1)
        assert w == pytest.approx(0.9, abs=1e-6)
    load_snippet(PATH)
    assert capsys.readouterr().out == "Adam [0.9, 0.9]\nAdamW [0.99, 0.89]\n"


def test_the_defaults_the_page_states():
    p = [nn.Parameter(torch.ones(1))]
    assert torch.optim.AdamW(p).defaults["weight_decay"] == 0.01
    assert torch.optim.Adam(p).defaults["weight_decay"] == 0


def test_only_weights_decay():
    first, second = snippet.optimizer.param_groups
    assert (first["weight_decay"], second["weight_decay"]) == (0.01, 0.0)
    assert first["lr"] == second["lr"] == 1e-3
    (weight,), (bias,) = first["params"], second["params"]
    assert weight is snippet.model.weight
    assert bias is snippet.model.bias


def test_the_gradient_of_the_loss_holds_the_sign_of_the_weights():
    torch.manual_seed(0)
    x, y = torch.randn(64, 8), torch.randn(64, 1)
    torch.testing.assert_close(x, snippet.x)
    layer = nn.Linear(8, 1)  # the weights before the step
    nn.functional.mse_loss(layer(x), y).backward()
    expected = layer.weight.grad + 1e-4 * layer.weight.sign()
    torch.testing.assert_close(snippet.model.weight.grad, expected)
    torch.testing.assert_close(snippet.model.bias.grad, layer.bias.grad)
    l1 = layer.weight.abs().sum()
    torch.testing.assert_close(snippet.l1, l1)
    moved = layer.weight * (1 - 1e-3 * 0.01) - 1e-3 * expected.sign()
    torch.testing.assert_close(snippet.model.weight, moved, atol=1e-6, rtol=0)


def test_weight_decay_of_sgd_is_half_the_square():
    decayed = step(torch.optim.SGD, 0.0, weight_decay=0.2)
    w = nn.Parameter(torch.ones(1))
    (0.1 * w.pow(2).sum()).backward()
    torch.optim.SGD([w], lr=0.1).step()
    assert w.item() == pytest.approx(decayed)


def test_l1_in_the_loss_jumps_over_zero_and_shrinking_does_not():
    start, lr, strength = 0.25, 0.1, 1.0
    w = nn.Parameter(torch.tensor([start]))
    seen = []
    for _ in range(6):
        w.grad = strength * w.detach().sign()
        torch.optim.SGD([w], lr=lr).step()
        seen.append(w.item())
    assert all(seen)  # never 0
    with torch.no_grad():
        w.fill_(start)
        for _ in range(6):
            t = lr * strength
            w.copy_(w.sign() * (w.abs() - t).clamp(min=0))
    assert w.item() == 0
