"""loss-nan: each row of its table made by hand; the guard against NumPy."""

import copy
import math

import numpy as np
import torch
from sklearn.metrics import mean_squared_error
from torch import nn

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/loss-nan"
NAN, INF = math.nan, math.inf
snippet = load_snippet("errors/loss_nan.py")


def test_the_weights_are_those_of_the_good_steps_alone():
    """In float64 NumPy, with the same three batches."""
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    w = np.append(model.weight.detach().numpy().ravel(), model.bias.item()).astype("f8")
    for step in (0, 2, 4):
        x, y = snippet.xs[step].double().numpy(), snippet.ys[step].double().numpy()
        x = np.hstack([x, np.ones((8, 1))])
        gradient = 2 * x.T @ (x @ w - y[:, 0]) / 8
        w -= 0.1 * gradient
    weight = snippet.model.weight.detach().ravel()
    np.testing.assert_allclose(weight, w[:4], rtol=1e-5)
    np.testing.assert_allclose(snippet.model.bias.item(), w[4], rtol=1e-5)


def test_it_names_what_came_first(capsys):
    load_snippet("errors/loss_nan.py")
    assert capsys.readouterr().out.splitlines() == [
        "step 1 skipped: y not finite",
        "step 3 skipped: loss not finite",
    ]


def test_a_loss_that_is_nan_beside_gradients_of_zero(capsys):
    """All labels are ignored: no gradient says so, and decay would still step."""
    model = nn.Linear(4, 3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.5)
    before = copy.deepcopy(model.state_dict())
    x, y = torch.ones(5, 4), torch.full((5,), -100)
    out = model(x)
    loss = nn.functional.cross_entropy(out, y)
    loss.backward()
    assert all(p.grad.eq(0).all() for p in model.parameters())
    names = {"model": model, "optimizer": optimizer, "step": 7, "x": x, "y": y}
    exec(answer("loss-nan"), names | {"out": out, "loss": loss})
    assert capsys.readouterr().out == "step 7 skipped: loss not finite\n"
    torch.testing.assert_close(dict(model.state_dict()), dict(before))


def test_a_weight_that_is_nan_is_named_before_the_output(capsys):
    model, x, y = nn.Linear(4, 1), torch.ones(5, 4), torch.ones(5, 1)
    nn.init.constant_(model.bias, NAN)
    out = model(x)
    loss = nn.functional.mse_loss(out, y)
    loss.backward()
    names = {"model": model, "step": 7, "x": x, "y": y, "out": out, "loss": loss}
    exec(answer("loss-nan"), names)
    assert capsys.readouterr().out == "step 7 skipped: weights not finite\n"


def test_without_the_guard_every_weight_is_lost():
    model = copy.deepcopy(snippet.model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    nn.functional.mse_loss(model(snippet.xs[1]), snippet.ys[1]).backward()
    optimizer.step()
    assert all(p.isnan().all() for p in model.parameters())


def test_inputs():
    x = torch.full((4, 1), 7.0)
    assert ((x - x.mean(0)) / x.std(0)).isnan().all()
    assert ((x - x.mean(0)) / x.std(0).clamp_min(1e-6)).eq(0).all()


def test_a_learning_rate_that_is_too_high():
    model, x = nn.Linear(2, 1), torch.ones(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=10)
    for _ in range(40):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    assert not all(p.isfinite().all() for p in model.parameters())


def test_outputs():
    assert torch.tensor(300.0).half().square() == INF
    assert torch.tensor(300.0).bfloat16().square().isfinite()
    assert torch.finfo(torch.float16).max == 65504
    assert torch.full((3,), -INF).softmax(0).isnan().all()
    lowest = torch.finfo(torch.float32).min
    torch.testing.assert_close(
        torch.full((3,), lowest).softmax(0), torch.full((3,), 1 / 3)
    )
    assert (torch.zeros(2) / torch.zeros(2).sum()).isnan().all()
    assert (torch.zeros(2) / torch.zeros(2).sum().clamp_min(1e-6)).eq(0).all()
    assert torch.tensor([200.0, 1.0]).exp().sum().log() == INF
    assert torch.tensor([200.0, 1.0]).logsumexp(0) == 200


def test_losses():
    logits, label = torch.tensor([[200.0, 0.0]]), torch.tensor([1])
    assert logits.softmax(1).log()[0, 1] == -INF
    assert nn.functional.cross_entropy(logits, label) == 200
    negative = torch.tensor([-200.0])
    assert negative.sigmoid().log() == -INF
    one = torch.ones(1)
    assert nn.functional.binary_cross_entropy_with_logits(negative, one) == 200
    ignored = torch.tensor([-100])
    assert nn.functional.cross_entropy(logits, ignored).isnan()
    assert nn.functional.cross_entropy(logits, ignored, reduction="sum") == 0
    assert torch.ones(3)[torch.zeros(3, dtype=torch.bool)].mean().isnan()


def gradient(function):
    x = torch.zeros(2, requires_grad=True)
    function(x).sum().backward()
    return x.grad


def test_gradients():
    assert not gradient(torch.sqrt).isfinite().any()
    assert gradient(lambda x: x.square().sqrt()).isnan().all()
    assert gradient(lambda x: (x.square() + 1e-6).sqrt()).eq(0).all()
    assert gradient(lambda x: torch.where(x > 0, x.sqrt(), 0.0)).isnan().all()
    assert gradient(lambda x: torch.where(x > 0, x.log(), 0.0)).isnan().all()
    fixed = gradient(lambda x: torch.where(x > 0, x.clamp_min(1e-6).log(), 0.0))
    assert fixed.eq(0).all()


def test_other_messages():
    nan = torch.full((2,), NAN)
    with raises_as_documented(PAGE, "ValueError: Expected parameter loc"):
        torch.distributions.Normal(nan, torch.ones(2), validate_args=True)
    with raises_as_documented(PAGE, "RuntimeError: probability tensor contains"):
        torch.multinomial(nan, 1)
    with raises_as_documented(PAGE, "RuntimeError: all elements of input"):
        nn.functional.binary_cross_entropy(nan, torch.ones(2))
    with raises_as_documented(PAGE, "ValueError: Input contains NaN."):
        mean_squared_error([0.0, 1.0], nan.numpy())


def test_a_skipped_step_leaves_nan_in_batchnorm_alone():
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    model(torch.full((4, 2), NAN)).sum().backward()  # and no step
    x = torch.randn(4, 2)
    assert model(x).isfinite().all()
    assert not model.eval()(x).isfinite().all()
    bad = [n for n, b in model.named_buffers() if not b.isfinite().all()]
    assert bad == ["1.running_mean", "1.running_var"]
