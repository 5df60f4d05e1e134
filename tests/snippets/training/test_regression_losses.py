"""regression-losses: against scikit-learn and hand-worked numbers; what each learns."""

import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn import metrics
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "training/regression-losses"
ANSWER = recipes()["regression-losses"].answer
snippet = load_snippet("training/regression_losses.py")
pred, y = snippet.pred, snippet.y


def test_against_scikit_learn():
    assert pred.shape == y.shape
    truth, guess = y.double().numpy(), pred.double().numpy()
    for value, metric in (
        (snippet.loss, metrics.mean_squared_error(truth, guess)),
        (snippet.mae, metrics.mean_absolute_error(truth, guess)),
        (snippet.pinball, metrics.mean_pinball_loss(truth, guess, alpha=0.9)),
        (snippet.mape, metrics.mean_absolute_percentage_error(truth, guess)),
    ):
        assert value.item() == pytest.approx(metric, rel=1e-6)


def test_the_answer_stops_at_another_shape():
    x = torch.randn(6, 3)
    names = {"model": nn.Linear(3, 1), "x": x, "y": torch.randn(6, 1)}
    assert set(ANSWER.yours) == set(names)
    with pytest.raises(AssertionError):
        exec(ANSWER.text, names)
    names["y"] = names["y"][:, 0]
    exec(ANSWER.text, names)
    weight, bias = (p.detach().double().numpy() for p in names["model"].parameters())
    guess = x.double().numpy() @ weight[0] + bias
    truth = names["y"].double().numpy()
    expected = metrics.mean_squared_error(truth, guess)
    assert names["loss"].item() == pytest.approx(expected, rel=1e-5)


def test_rmse():
    (truth, guess) = (values.double().numpy() for values in (y, pred))
    expected = metrics.root_mean_squared_error(truth, guess)
    assert snippet.rmse.item() == pytest.approx(expected, rel=1e-6)
    for epsilon, finite in ((1e-8, True), (0.0, False)):
        free = y.clone().requires_grad_()  # each error is 0
        (nn.MSELoss()(free, y) + epsilon).sqrt().backward()
        assert free.grad.isfinite().all().item() == finite


def test_huber_by_hand():
    assert (y - pred).tolist() == [-0.5, 0, 3, -10]
    # delta 2: 0.5 ** 2 / 2, 0, 2 * (3 - 1), 2 * (10 - 1)
    assert snippet.huber.item() == pytest.approx((0.125 + 0 + 4 + 18) / 4)
    assert snippet.smooth.item() == pytest.approx((0.0625 + 0 + 2 + 9) / 4)


@pytest.mark.parametrize("delta", [0.1, 1.0, 4.0])
def test_how_the_losses_are_related(delta):
    huber = F.huber_loss(pred, y, delta=delta)
    smooth = F.smooth_l1_loss(pred, y, beta=delta)
    torch.testing.assert_close(huber, delta * smooth)
    torch.testing.assert_close(F.huber_loss(pred, y, delta=1e3), snippet.loss / 2)
    torch.testing.assert_close(F.smooth_l1_loss(pred, y, beta=0), snippet.mae)


def best(loss, targets):
    """The constant with the smallest loss, on a fine grid."""
    grid = torch.linspace(0, 30, 3001, dtype=torch.float64)
    return grid[torch.stack([loss(c, targets) for c in grid]).argmin()].item()


def test_what_each_loss_learns():
    targets = torch.tensor([1.0, 2.0, 4.0, 5.0, 28.0], dtype=torch.float64)
    mse = best(lambda c, t: (t - c).square().mean(), targets)
    mae = best(lambda c, t: (t - c).abs().mean(), targets)
    huber = best(lambda c, t: F.huber_loss(c.expand_as(t), t, delta=3.0), targets)
    assert mse == pytest.approx(8)
    assert mae == pytest.approx(4)
    assert mse > huber
    many = torch.linspace(0, 20, 401, dtype=torch.float64)
    q = best(lambda c, t: torch.maximum(0.9 * (t - c), -0.1 * (t - c)).mean(), many)
    assert q == pytest.approx(np.quantile(many, 0.9), abs=0.05)
    mape = best(lambda c, t: ((t - c).abs() / t).mean(), targets)
    assert mape < targets.median()


def test_shapes_that_differ():
    wrong = torch.randn(4, 1)
    for loss in (nn.MSELoss(), nn.L1Loss(), nn.HuberLoss(), nn.SmoothL1Loss()):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with raises_as_documented(PAGE, "UserWarning: Using"):
                loss(wrong, y)
    # the best constant is the mean: all pairs are compared
    column = torch.arange(4.0)[:, None].requires_grad_()
    with pytest.warns(UserWarning, match="Using a target size"):
        loss = F.mse_loss(column, y)
    (grad,) = torch.autograd.grad(loss, column)
    torch.testing.assert_close(grad, (column.detach() - y.mean()) / 2)


@pytest.mark.parametrize("shape", [(4, 2), (2, 1), (1, 4)], ids=str)
def test_the_answer_hides_no_other_mismatch(shape):
    """`reshape_as` would turn some of these into wrong numbers without a word."""
    names = {"model": nn.Identity(), "x": torch.randn(4, 1), "y": torch.randn(4)}
    assert set(ANSWER.yours) == set(names)
    exec(ANSWER.text, names)
    assert names["pred"].shape == names["y"].shape
    with pytest.raises(AssertionError):
        exec(ANSWER.text, names | {"x": torch.randn(shape), "y": torch.ones(4, 1)})


def test_the_lines_of_the_table():
    page = (ROOT / f"docs/en/{PAGE}.md").read_text(encoding="utf-8")
    table = page.partition("## Why")[0].splitlines()
    rows = [line.split("|") for line in table if line.startswith("|")]
    code = [row[2].strip(" `") for row in rows[2:]]
    assert len(code) == 7
    names = {"nn": nn, "torch": torch, "pred": pred, "y": y, "q": 0.9}
    values = [eval(line, names) for line in code]
    s = snippet
    turn = 1 - np.cos(pred.numpy() - y.numpy()).mean()
    angle = torch.tensor(turn)
    expected = [s.loss, s.rmse, s.mae, s.huber, s.pinball, angle, s.mape]
    torch.testing.assert_close(values, expected)


def test_angles():
    degrees = torch.tensor([359.0, 1.0]).deg2rad()
    assert 1 - (degrees[0] - degrees[1]).cos() < 1e-3
    y = torch.tensor([350.0, 40.0, 30.0]).deg2rad()
    grid = torch.linspace(0, 2 * torch.pi, 10001)
    best = grid[(1 - (grid[:, None] - y).cos()).mean(1).argmin()]
    mean = torch.atan2(y.sin().mean(), y.cos().mean()).remainder(2 * torch.pi)
    torch.testing.assert_close(best, mean, atol=1e-3, rtol=0)


def test_targets_from_numpy():
    free = pred.clone().requires_grad_()
    loss = nn.HuberLoss()(free, y.double())
    with raises_as_documented(PAGE, "RuntimeError: Found dtype"):
        loss.backward()
    with pytest.raises(RuntimeError, match="Found dtype Long but expected Float"):
        nn.HuberLoss()(free, y.long()).backward()
    nn.HuberLoss()(free, y.double().float()).backward()
    assert free.grad.dtype == torch.float32


def test_targets_of_zero():
    e, zero = torch.tensor([1.0]), torch.tensor([0.0])
    assert (e.abs() / zero.abs().clamp(min=1e-8)).isfinite().all()


def test_what_is_refused():
    with raises_as_documented(PAGE, "TypeError: HuberLoss"):
        nn.HuberLoss(beta=1.0)
    with raises_as_documented(PAGE, "RuntimeError: huber_loss"):
        nn.HuberLoss(delta=0)(pred, y)
    with raises_as_documented(PAGE, "RuntimeError: Boolean"):
        nn.MSELoss(pred, y)


def test_variants():
    weight = torch.tensor([1.0, 1.0, 1.0, 0.0])
    weighted = (weight * F.huber_loss(pred, y, reduction="none")).mean()
    assert weighted.item() == pytest.approx((0.125 + 0 + 2.5) / 4)
    torchmetrics = pytest.importorskip("torchmetrics")
    for metric, expected in (
        (torchmetrics.MeanAbsoluteError(), snippet.mae),
        (torchmetrics.MeanSquaredError(squared=False), snippet.rmse),
    ):
        metric.update(pred[:3], y[:3])
        metric.update(pred[3:], y[3:])
        torch.testing.assert_close(metric.compute(), expected)
