"""vmap-batching: against loops over samples, NumPy, random numbers, what is refused."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "autograd/vmap-batching"
f = load_snippet("autograd/vmap_batching.py").distance
X = torch.tensor([[1.0, -2, 3, 0], [0.5, 0.1, 0, 0], [4, 4, -4, 4]])
n = torch.tensor([0, 1, 3])


def by_numpy(a, b, w):
    d = np.linalg.norm(w.numpy() * (a.numpy() - b.numpy()))
    return d - 0.5 if d > 1 else d**2 / 2


def test_every_sample_as_in_a_loop():
    y, w = X.flip(0) / 2, torch.tensor([1.0, 0.5, 0.25, 0.1])
    out = vmap(f, in_dims=(0, 0, None))(X, y, w)
    expected = [by_numpy(a, b, w) for a, b in zip(X, y, strict=True)]
    assert out.tolist() == pytest.approx(expected)
    pairs = vmap(vmap(f, (None, 0, None)), (0, None, None))(X, y[:2], w)
    expected = [[by_numpy(a, b, w) for b in y[:2]] for a in X]
    np.testing.assert_allclose(pairs, expected, rtol=1e-5)


def test_keywords_are_shared():
    w = torch.rand(3, 4)  # one row for each sample
    out = vmap(lambda a, w: a @ w.T)(X, w=w)
    np.testing.assert_allclose(out, X.numpy() @ w.numpy().T, rtol=1e-5)
    out = vmap(lambda a, w: a @ w)(X, w)
    np.testing.assert_allclose(out, (X * w).sum(1), rtol=1e-5)


@pytest.mark.parametrize(("a", "expected"), [(0.5, 0.125), (1.0, 0.5), (3.0, 2.5)])
def test_one_sample_by_hand(a, expected):
    assert f(torch.tensor([a]), torch.zeros(1), torch.ones(1)) == expected


def test_the_answer_for_one_sample_in_float64():
    x, y = torch.randn(2, 1, 5, dtype=torch.float64)
    names = {"x": x, "y": y, "w": torch.rand(5, dtype=torch.float64)}
    exec(answer("vmap-batching"), names)
    assert names["out"].tolist() == pytest.approx([by_numpy(x[0], y[0], names["w"])])


def test_gradients_pass_through():
    x, y, w = X.clone().requires_grad_(), X.flip(0) + 1, torch.ones(4)
    vmap(f, (0, 0, None))(x, y, w).sum().backward()
    again = X.clone().requires_grad_()
    sum(f(a, b, w) for a, b in zip(again, y, strict=True)).backward()
    torch.testing.assert_close(x.grad, again.grad)


def test_random_numbers():
    torch.manual_seed(0)
    x = torch.ones(4, 100)
    dropout = nn.functional.dropout
    different = vmap(dropout, randomness="different")(x)
    assert not torch.equal(different[0], different[1])
    same = vmap(dropout, randomness="same")(x)
    assert all(torch.equal(row, same[0]) for row in same)
    with raises_as_documented(PAGE, "RuntimeError: vmap: called"):
        vmap(dropout)(x)


def test_values_cannot_decide():
    with raises_as_documented(PAGE, "RuntimeError: vmap: It looks like you're attempt"):
        vmap(lambda a: a if a.sum() > 0 else -a)(X)
    assert vmap(lambda a: a if a.dim() == 1 else None)(X).shape == X.shape


@pytest.mark.parametrize(
    "use",
    [
        lambda a, i: a[0].item() * a,
        lambda a, i: float(a[0]) * a,
        lambda a, i: a[int(i)],
        lambda a, i: a[:i].sum(),
        lambda a, i: sum(a[k] for k in range(i)),
    ],
)
def test_values_cannot_leave(use):
    with raises_as_documented(PAGE, "RuntimeError: vmap: It looks like you're calling"):
        vmap(use)(X, n)


def test_what_replaces_them():
    assert vmap(lambda a, i: a[i])(X, n).tolist() == pytest.approx([1, 0.1, 4])
    head = vmap(lambda a, i: torch.where(torch.arange(len(a)) < i, a, 0).sum())
    assert head(X, n).tolist() == [0, 0.5, 4]
    positive = vmap(lambda a: torch.where(a > 0, a, 0).sum())(X)
    assert positive.tolist() == pytest.approx([4, 0.6, 12])
    with raises_as_documented(PAGE, "RuntimeError: vmap: We do"):
        vmap(lambda a: a[a > 0].sum())(X)


def test_a_buffer_that_is_filled():
    def fill(a, out):
        out[0] = a[0]
        return out

    with raises_as_documented(PAGE, "RuntimeError: vmap: inplace"):
        vmap(lambda a: fill(a, torch.zeros(4)))(X)
    filled = vmap(lambda a: fill(a, a.new_zeros(4)))(X)
    assert filled.tolist() == [[1, 0, 0, 0], [0.5, 0, 0, 0], [4, 0, 0, 0]]


def test_what_is_refused():
    def f(a, b):
        return a + b

    with raises_as_documented(PAGE, "ValueError: vmap: Expected"):
        vmap(f)(X, X[:2])
    with raises_as_documented(PAGE, "ValueError: vmap(f, in_dims=0"):
        vmap(f)(X, 2.0)
    assert torch.equal(vmap(f, (0, None))(X, 2.0), X + 2)
    with raises_as_documented(PAGE, "RuntimeError: Cannot access"):
        vmap(lambda a: torch.from_numpy(a.numpy()))(X)
    with (
        raises_as_documented(PAGE, "UserWarning: There is a performance drop"),
        warnings.catch_warnings(action="error"),
    ):
        vmap(lambda a: torch.histc(a, 4))(X)
    with warnings.catch_warnings(action="ignore"):
        counts = vmap(lambda a: torch.histc(a, 4))(X)
    assert torch.equal(counts, torch.stack([torch.histc(a, 4) for a in X]))


def test_variants():
    total = vmap(torch.sum, in_dims=1, chunk_size=2)(X)
    assert torch.equal(total, X.sum(0))
    doubled = vmap(lambda a: 2 * a, in_dims=1, out_dims=1)(X)
    assert torch.equal(doubled, 2 * X)
    torch.manual_seed(0)
    models = [nn.Linear(4, 2) for _ in range(3)]
    p, b = stack_module_state(models)
    out = vmap(lambda p, b: functional_call(models[0], (p, b), X))(p, b)
    torch.testing.assert_close(out, torch.stack([model(X) for model in models]))
