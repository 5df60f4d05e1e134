"""lbfgs-closure: against SciPy's L-BFGS, and how often the closure is called."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from torch import nn
from torch.optim import LBFGS, Adam

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/lbfgs-closure"
snippet = load_snippet("training/lbfgs_closure.py")


def rosenbrock(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def minimized(steps=1, **given) -> tuple[torch.Tensor, list[float]]:
    """Where it ends on Rosenbrock's valley, and the losses of all calls."""
    x = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
    optimizer, losses = LBFGS([x], **given), []

    def closure():
        optimizer.zero_grad()
        loss = rosenbrock(x)
        loss.backward()
        losses.append(loss.item())
        return loss

    for _ in range(steps):
        optimizer.step(closure)
    return x.detach(), losses


def test_it_finds_what_scipy_finds():
    found, _ = minimized(5, line_search_fn="strong_wolfe")
    expected = minimize(rosenbrock, np.array([-1.2, 1.0]), method="L-BFGS-B").x
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-4)


def test_the_snippet_fits_the_curve(capsys):
    again = load_snippet("training/lbfgs_closure.py")
    first, second = capsys.readouterr().out.splitlines()
    assert (first[-4:], second[-5:]) == ("True", "False")
    assert again.closure() > 1e-2  # what Adam has reached
    assert 100 < again.calls < 300
    assert again.adam.state[again.model[0].weight]["step"] == again.calls
    assert snippet.optimizer.param_groups[0]["line_search_fn"] == "strong_wolfe"


def test_the_closure_leaves_the_gradient_of_the_whole_loss():
    snippet.closure()
    loss = snippet.closure()  # the gradients of the first call are gone
    grads = torch.autograd.grad(
        (snippet.model(snippet.x) - snippet.y).square().mean(),
        list(snippet.model.parameters()),
    )
    for p, grad in zip(snippet.model.parameters(), grads, strict=True):
        torch.testing.assert_close(p.grad, grad)
    assert loss.requires_grad


def test_one_step_calls_it_some_25_times_and_returns_the_first_loss():
    _, losses = minimized(line_search_fn="strong_wolfe")
    assert 15 < len(losses) < 40
    x = torch.tensor([-1.2, 1.0], requires_grad=True)
    optimizer = LBFGS([x], line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = rosenbrock(x)
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == pytest.approx(24.2)
    assert rosenbrock(x).item() < 24


def test_without_a_line_search_it_jumps():
    _, losses = minimized(2)
    assert max(losses) > 100 * losses[0]
    _, losses = minimized(2, line_search_fn="strong_wolfe")
    assert losses[-1] < losses[0]


def test_defaults():
    options = LBFGS([torch.ones(1)]).defaults
    assert (options["lr"], options["max_iter"], options["max_eval"]) == (1, 20, 25)
    assert options["history_size"] == 100
    assert (options["tolerance_grad"], options["tolerance_change"]) == (1e-7, 1e-9)


def test_messages():
    layer = nn.Linear(1, 1)
    optimizer = LBFGS(layer.parameters())
    with raises_as_documented(PAGE, "TypeError: LBFGS.step()"):
        optimizer.step()
    with raises_as_documented(PAGE, "ValueError: LBFGS doesn't support"):
        LBFGS([{"params": [layer.weight]}, {"params": [layer.bias]}])
    with raises_as_documented(PAGE, "TypeError: float() argument"):
        optimizer.step(lambda: None)


def test_a_scaler_takes_no_closure():
    layer = nn.Linear(1, 1)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(layer(torch.ones(1, 1)).sum()).backward()
    with pytest.raises(RuntimeError, match="Closure use is not currently supported"):
        scaler.step(LBFGS(layer.parameters()), closure=lambda: None)


def test_adam_calls_it_once():
    calls = []
    loss = Adam(nn.Linear(1, 1).parameters()).step(lambda: calls.append(1) or 3.0)
    assert (calls, loss) == ([1], 3.0)
