"""dim-semantics: against loops and NumPy, and softmax along the wrong dimension."""

import math
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import assert_documented, load_snippet, raises_as_documented

PAGE = "tensors/dim-semantics"
snippet = load_snippet("tensors/dim_semantics.py")


def test_sums_of_columns_and_rows():
    x = snippet.x.tolist()
    assert x == [[1, 2, 3], [4, 5, 6]]
    assert snippet.per_column.tolist() == [a + b for a, b in zip(*x, strict=True)]
    assert snippet.per_row.tolist() == [sum(row) for row in x]
    for row, shares in zip(x, snippet.share.tolist(), strict=True):
        assert shares == pytest.approx([value / sum(row) for value in row])


def test_the_answer_for_one_row_and_for_large_logits():
    for x in (
        torch.tensor([[2.0]]),
        torch.tensor([[500.0, -500.0, 0.0]]),
        torch.ones(3, 1),
    ):
        names = {"x": x.double()}
        exec(answer("dim-semantics"), names)
        rows = x.tolist()
        assert names["per_column"].tolist() == [sum(c) for c in zip(*rows, strict=True)]
        assert names["per_row"].tolist() == [sum(row) for row in rows]
        torch.testing.assert_close(names["p"].sum(1), torch.ones(len(rows)).double())
        assert names["p"].isfinite().all()


def test_softmax_of_each_row():
    for row, p in zip(snippet.x.tolist(), snippet.p.tolist(), strict=True):
        total = sum(math.exp(value) for value in row)
        assert p == pytest.approx([math.exp(value) / total for value in row])


def test_one_mean_per_channel():
    images = snippet.images.numpy()
    assert images.shape == (8, 3, 4, 4)
    np.testing.assert_allclose(snippet.mean, images.mean((0, 2, 3)), rtol=1e-5)


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_the_named_dimension_disappears_or_becomes_one(dim):
    x = torch.rand(2, 3, 4)
    left = [size for i, size in enumerate(x.shape) if i != dim % 3]
    assert list(x.sum(dim).shape) == left
    assert x.sum(dim, keepdim=True).shape[dim] == 1
    assert x.softmax(dim).shape == x.shape


def test_a_row_of_zeros_has_no_shares():
    x = torch.tensor([[0.0, 0.0], [1.0, 3.0]])
    share = x / x.sum(dim=1, keepdim=True)
    assert share[0].isnan().all()
    assert share[1].tolist() == [0.25, 0.75]


def test_softmax_over_a_batch_of_one_is_one():
    assert torch.randn(1, 5).softmax(dim=0).tolist() == [[1] * 5]


def test_without_keepdim_a_square_is_divided_wrongly():
    x = torch.tensor([[1.0, 3.0], [6.0, 2.0]])
    assert (x / x.sum(1)).sum(1).tolist() != [1, 1]
    assert (x / x.sum(1, keepdim=True)).sum(1).tolist() == [1, 1]
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a"):
        snippet.x / snippet.x.sum(1)


@pytest.mark.parametrize("softmax", [F.softmax, nn.Softmax()])
def test_softmax_guesses_and_warns(softmax):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        guessed = softmax(torch.zeros(2, 3, 4))
    message = f"UserWarning: {caught[0].message}"
    assert_documented(PAGE, "UserWarning: Implicit dimension choice", message)
    assert (guessed == 0.5).all()  # along dim 0, the batch


def test_the_names_of_numpy():
    x = snippet.x
    sums = x.numpy().sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(x.sum(axis=1, keepdims=True), sums)
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        F.softmax(x, axis=1)


def test_what_is_refused():
    with raises_as_documented(PAGE, "IndexError: Dimension out of range"):
        snippet.x.sum(2)
    with raises_as_documented(PAGE, "NotImplementedError: mean(): could not"):
        torch.arange(3).mean()
    with raises_as_documented(PAGE, 'NotImplementedError: "softmax_lastdim'):
        torch.arange(4).view(2, 2).softmax(dim=-1)
    with raises_as_documented(PAGE, "TypeError: softmax() missing"):
        snippet.x.softmax()
