"""err-leaf-and-scalar-grad: steps worked out in NumPy, each cause raised."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import (
    assert_documented,
    load_snippet,
    raises_as_documented,
    recipes,
)

PAGE = "errors/err-leaf-and-scalar-grad"
LEAF = "a leaf Variable that requires grad is being used in an in-place operation"
ANSWER = recipes()["err-leaf-and-scalar-grad"].answer


def test_the_answer_is_a_step_by_hand_in_every_round():
    layer, x = nn.Linear(4, 3, bias=False).double(), torch.randn(5, 4).double()
    y = torch.randn(5, 3).double()
    expected = layer.weight.detach().numpy().copy()
    for _ in range(3):
        names = {"model": layer, "loss_fn": nn.MSELoss(), "x": x, "y": y, "lr": 0.1}
        exec(ANSWER.text, names)
        error = x.numpy() @ expected.T - y.numpy()
        expected -= 0.1 * 2 * error.T @ x.numpy() / error.size
        np.testing.assert_allclose(layer.weight.detach().numpy(), expected)
    assert layer.weight.is_leaf
    assert layer.weight.requires_grad
    assert layer.weight.grad is None


def test_the_answer_leaves_frozen_weights_alone():
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    model[0].requires_grad_(False)
    before = [p.detach().clone() for p in model.parameters()]
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    exec(
        ANSWER.text,
        {"model": model, "loss_fn": nn.MSELoss(), "x": x, "y": y, "lr": 0.1},
    )
    same = [torch.equal(p, b) for p, b in zip(model.parameters(), before, strict=True)]
    assert same == [True, True, False, False]


def test_the_demonstration_takes_one_step():
    snippet = load_snippet("errors/err_leaf_and_scalar_grad.py")
    assert snippet.model.weight.is_leaf
    assert snippet.model.weight.grad is None


def test_without_no_grad_the_answer_raises():
    names = {"w": torch.ones(2, requires_grad=True), "lr": 0.1}
    names["w"].sum().backward()
    with pytest.raises(RuntimeError, match=f"^{LEAF}"):
        exec("w -= lr * w.grad", names)
    with pytest.raises(RuntimeError, match=f"^a view of {LEAF}"):
        exec("w[0] = 0", names)
    exec("with torch.no_grad(): w[0] = 0", names | {"torch": torch})
    assert names["w"].tolist() == [0, 1]


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w.add_(1),
        lambda w: w.normal_(),
        lambda w: w.masked_fill_(w > 0, 0),
        lambda w: F.relu(w, inplace=True),
        lambda w: nn.Sequential(nn.ReLU(inplace=True))(w),
    ],
)
def test_a_leaf_is_changed(change):
    with raises_as_documented(
        PAGE, "RuntimeError: a leaf Variable that requires grad is"
    ):
        change(torch.ones(2, 2, requires_grad=True))
    change(torch.ones(2, 2, requires_grad=True).clone())
    with torch.no_grad():
        change(torch.ones(2, 2, requires_grad=True))


def assign(w):
    w[0] = 1


@pytest.mark.parametrize("change", [assign, lambda w: w.view(4, -1)[:, 0].add_(1)])
def test_a_view_of_a_leaf_is_changed(change):
    with raises_as_documented(PAGE, "RuntimeError: a view of a leaf Variable that"):
        change(torch.ones(8, requires_grad=True))


def test_a_step_by_hand_keeps_the_leaf_in_place_and_loses_it_otherwise():
    w = torch.ones(2, requires_grad=True)
    for expected in (0.8, 0.64):  # w - 0.1 * 2 w
        (w**2).sum().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
        assert w.tolist() == pytest.approx([expected] * 2)
    (w**2).sum().backward()
    w = w - 0.1 * w.grad
    (w**2).sum().backward()
    with (
        pytest.warns(UserWarning, match="not a leaf"),
        raises_as_documented(PAGE, "TypeError: unsupported operand type(s)"),
    ):
        w - 0.1 * w.grad


def test_an_attack_makes_a_new_leaf():
    x = torch.ones(2, requires_grad=True)
    x.sum().backward()
    x = (x + 0.1 * x.grad.sign()).detach().requires_grad_()
    assert x.is_leaf
    assert x.tolist() == pytest.approx([1.1, 1.1])


def test_the_neighbouring_messages():
    w = torch.ones(2, requires_grad=True)
    with raises_as_documented(PAGE, "RuntimeError: Only Tensors of floating point"):
        torch.arange(3, requires_grad=True)
    with raises_as_documented(PAGE, "RuntimeError: you can only change requires_grad"):
        (2 * w).requires_grad = False
    with raises_as_documented(PAGE, "ValueError: can't optimize a non-leaf Tensor"):
        torch.optim.SGD([w.double()], lr=0.1)
    with raises_as_documented(PAGE, "AttributeError: 'NoneType' object"):
        w.grad.zero_()
    moved = w.double()
    moved.sum().backward()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert moved.grad is None
    raised = f"UserWarning: {caught[0].message}"
    assert_documented(PAGE, "UserWarning: The .grad attribute of a Tensor", raised)
