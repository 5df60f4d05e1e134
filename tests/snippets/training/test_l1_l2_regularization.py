"""l1-l2-regularization: steps worked by hand, and gradients of the penalties."""

import pytest
import torch
from sklearn.linear_model import Lasso
from torch import nn

from tests.helpers import ROOT, load_snippet, recipes

PATH = "training/l1_l2_regularization.py"
ANSWER = recipes()["l1-l2-regularization"].answer
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


def test_adam_swallows_the_decay():
    for gradient in (0.0, 10.0):
        w = step(torch.optim.Adam, gradient, weight_decay=0.1)
        assert w == pytest.approx(0.9, abs=1e-6)


def test_l1_finds_the_useless_inputs_as_lasso_does(capsys):
    load_snippet(PATH)
    plain, l1 = (line.split() for line in capsys.readouterr().out.splitlines())
    assert float(l1[-1]) < 0.6 * float(plain[-1])  # the useless ones
    assert float(l1[4].strip(",")) > 0.9
    x, y = (t.numpy() for t in snippet.loader.dataset.tensors)
    # Lasso's loss is half the mean square: half the strength.
    lasso = Lasso(alpha=snippet.strength / 2).fit(x, y[:, 0])
    assert snippet.model.weight.detach()[0].numpy() == pytest.approx(
        lasso.coef_, abs=0.03
    )


def test_the_defaults_the_page_states():
    p = [nn.Parameter(torch.ones(1))]
    assert torch.optim.AdamW(p).defaults["weight_decay"] == 0.01
    assert torch.optim.Adam(p).defaults["weight_decay"] == 0


def test_the_lines_of_the_table_run():
    page = (ROOT / "docs/en/training/l1-l2-regularization.md").read_text("utf-8")
    rows = [line.split("|") for line in page.splitlines() if "`optimizer = " in line]
    assert len(rows) == 2
    for row in rows:
        names = {"torch": torch, "model": nn.Linear(2, 2)}
        exec(row[2].strip(" `"), names)
        assert names["optimizer"].param_groups[0]["weight_decay"] in (0.01, 5e-4)


def test_the_gradient_of_the_loss_holds_the_sign_of_the_weights():
    layer, x, y = nn.Linear(8, 1), torch.randn(64, 8), torch.randn(64, 1)
    nn.functional.mse_loss(layer(x), y).backward()
    expected = layer.weight.grad + 0.1 * layer.weight.sign()
    bias = layer.bias.grad.clone()
    names = {"model": layer, "loader": [(x, y)], "loss_fn": nn.MSELoss()}
    names["optimizer"] = torch.optim.SGD(layer.parameters(), lr=0.0)
    exec(ANSWER.text, names | {"strength": 0.1})
    torch.testing.assert_close(layer.weight.grad, expected)
    torch.testing.assert_close(layer.bias.grad, bias)


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
            w.copy_(nn.functional.softshrink(w, lr * strength))
    assert w.item() == 0


def test_shrinking_finds_the_zeros_of_lasso():
    lr, strength = 0.02, 0.3
    x, y = snippet.loader.dataset.tensors
    model = nn.Linear(20, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    w = model.weight
    for _ in range(1000):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        with torch.no_grad():
            w.copy_(nn.functional.softshrink(w, lr * strength))
    lasso = Lasso(alpha=strength / 2, tol=1e-8).fit(x.numpy(), y[:, 0].numpy())
    assert w.detach()[0].numpy() == pytest.approx(lasso.coef_, abs=1e-4)
    assert 0 < w.count_nonzero() == (lasso.coef_ != 0).sum() < 20
