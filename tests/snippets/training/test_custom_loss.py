"""custom-loss: values against scikit-learn, the gradient, and what breaks it."""

import numpy as np
import pytest
import torch
from sklearn.metrics import mean_pinball_loss
from torch import nn
from torch.nn import functional as F

from tests.helpers import ROOT, load_snippet, raises_as_documented

snippet = load_snippet("training/custom_loss.py")
PAGE = "training/custom-loss"


@pytest.fixture
def values():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(3, 20, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_equals_scikit_learn(values, q):
    pred, target, _ = values
    loss = snippet.quantile_loss(pred, target, q)
    assert loss.item() == pytest.approx(mean_pinball_loss(target, pred, alpha=q))
    assert snippet.QuantileLoss(q)(pred, target) == loss


def test_the_default_is_half_the_absolute_error(values):
    pred, target, _ = values
    loss = snippet.quantile_loss(pred, target)
    torch.testing.assert_close(2 * loss, F.l1_loss(pred, target))


def test_by_hand():
    pred, target = torch.tensor([1.0, 4.0]), torch.tensor([3.0, 3.0])
    assert snippet.quantile_loss(pred, target, 0.75) == (1.5 + 0.25) / 2
    low = snippet.quantile_loss(pred.bfloat16(), target.bfloat16(), 0.75)
    assert low == (1.5 + 0.25) / 2


def test_weights_per_sample_as_the_page_puts_them_in(values):
    pred, target, weight = values
    weight[:5] = 0  # padding
    weight = weight.abs()
    code = (ROOT / "snippets/training/custom_loss.py").read_text(encoding="utf-8")
    code = code.replace("(pred, target, q=0.5)", "(pred, target, weight, q=0.5)")
    end = "return torch.maximum(q * error, (q - 1) * error).mean()"
    assert code.count(end) == 1
    new = "(weight * loss).sum() / weight.sum().clamp(min=1e-8)"
    page = (ROOT / "docs/en/training/custom-loss.md").read_text(encoding="utf-8")
    assert f"`{new}`" in page
    names = {"__name__": "weighted"}
    exec(code.replace(end, f"loss = {end[7:-7]}\n    return {new}"), names)
    loss = names["quantile_loss"](pred, target, weight, q=0.9)
    expected = mean_pinball_loss(target, pred, sample_weight=weight, alpha=0.9)
    assert loss.item() == pytest.approx(expected)
    assert names["quantile_loss"](pred, target, 0 * weight) == 0


def test_gradient(values):
    pred, target, _ = values
    pred.requires_grad_()
    assert torch.autograd.gradcheck(snippet.QuantileLoss(0.9), (pred, target))


def test_the_minimum_is_the_quantile(values):
    target = values.flatten()
    grid = torch.linspace(-2, 2, 801, dtype=torch.float64)
    losses = [
        snippet.quantile_loss(p.expand_as(target), target, 0.9).item() for p in grid
    ]
    best = grid[int(np.argmin(losses))]
    share = (target < best).double().mean().item()
    assert share == pytest.approx(0.9, abs=1.5 / len(target))


def test_shapes_must_agree():
    pred, target = torch.zeros(4, 1), torch.zeros(4)
    with raises_as_documented(PAGE, "ValueError: shapes"):
        snippet.quantile_loss(pred, target)
    assert (pred - target).shape == (4, 4)
    with pytest.warns(UserWarning, match="Using a target size"):
        nn.MSELoss()(pred, target)


def test_what_has_no_gradient():
    logits, target = torch.randn(4, 3, requires_grad=True), torch.zeros(4)
    for broken in (
        logits.argmax(1).float(),
        (logits[:, 0] > 0.5).float(),
        torch.tensor([row[0].item() for row in logits]),
        logits[:, 0].detach(),
    ):
        with raises_as_documented(PAGE, "RuntimeError: element 0"):
            snippet.quantile_loss(broken, target).backward()


def test_steps_have_a_zero_gradient_and_a_smooth_one_does_not():
    for step in (torch.round, torch.floor, torch.sign):
        pred = torch.tensor([0.3, 0.6], requires_grad=True)
        step(pred).sum().backward()
        assert pred.grad.tolist() == [0, 0]
    pred = torch.tensor([0.3, 0.6], requires_grad=True)
    torch.sigmoid((pred - 0.5) / 0.1).sum().backward()
    assert (pred.grad > 0).all()


def test_nan_of_a_root():
    pred, target = torch.ones(2, requires_grad=True), torch.ones(2)
    root = torch.sqrt(F.mse_loss(pred, target))
    torch.where(root > 0, root, torch.zeros(())).backward()
    assert pred.grad.isnan().all()
    pred.grad = None
    torch.sqrt(F.mse_loss(pred, target) + 1e-8).backward()
    assert pred.grad.tolist() == [0, 0]
    assert torch.log(torch.zeros(1).clamp(min=1e-8)).isfinite().all()


def test_messages():
    pred, target = torch.zeros(4, requires_grad=True), torch.ones(4)
    with raises_as_documented(PAGE, "RuntimeError: grad can be"):
        torch.maximum(pred - target, target - pred).backward()
    with raises_as_documented(PAGE, "RuntimeError: Boolean value"):
        nn.MSELoss(pred, target)
    with raises_as_documented(PAGE, "TypeError: QuantileLoss"):
        snippet.QuantileLoss(pred, target)
    with raises_as_documented(PAGE, "AttributeError: 'float'"):
        snippet.quantile_loss(pred, target).item().backward()
    with raises_as_documented(PAGE, "RuntimeError: Can't call numpy"):
        mean_pinball_loss(target, pred)
