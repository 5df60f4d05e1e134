"""cat-vs-stack: against NumPy, and the errors of mismatched shapes."""

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/cat-vs-stack"
snippet = load_snippet("tensors/cat_vs_stack.py")


def test_values_are_those_of_numpy():
    arrays = [tensor.numpy() for tensor in (snippet.a, snippet.b, snippet.c)]
    assert len({array.tobytes() for array in arrays}) == 3  # so that order shows
    np.testing.assert_array_equal(snippet.rows, np.concatenate(arrays))
    np.testing.assert_array_equal(snippet.columns, np.concatenate(arrays, axis=1))
    np.testing.assert_array_equal(snippet.batch, np.stack(arrays))


def test_the_answer_for_one_row_and_for_mixed_dtypes():
    a, b = torch.tensor([[1, 2]]), torch.tensor([[3, 4]], dtype=torch.int32)
    names = {"a": a, "b": b, "c": torch.tensor([[0.5, 0.5]]).bfloat16()}
    exec(answer("cat-vs-stack"), names)
    assert names["rows"].tolist() == [[1, 2], [3, 4], [0.5, 0.5]]
    assert names["columns"].tolist() == [[1, 2, 3, 4, 0.5, 0.5]]
    assert names["batch"].tolist() == [[[1, 2]], [[3, 4]], [[0.5, 0.5]]]


def test_the_shapes_that_the_comments_state(capsys):
    load_snippet("tensors/cat_vs_stack.py")
    printed = capsys.readouterr().out
    assert printed == "cat (30, 5) (10, 15)\nstack (3, 10, 5)\n"


def test_the_way_back():
    parts = [snippet.a, snippet.b, snippet.c]
    assert all(map(torch.equal, torch.unbind(snippet.batch), parts))
    assert all(map(torch.equal, torch.split(snippet.rows, 10), parts))


def test_cat_joins_batches_of_different_length():
    batches = [torch.rand(n, 2, 3) for n in (4, 4, 0, 1)]
    expected = np.concatenate([batch.numpy() for batch in batches])
    np.testing.assert_array_equal(torch.cat(batches), expected)


@pytest.mark.parametrize("function", [torch.cat, torch.stack])
def test_both_copy_and_pass_gradients(function):
    a, b = torch.ones(2, requires_grad=True), torch.ones(2)
    weights = torch.tensor([1.0, 2.0, 3.0, 4.0])
    (function([a, b]).flatten() * weights).sum().backward()
    assert a.grad.tolist() == [1, 2]
    function([b, b]).add_(1)
    assert b.tolist() == [1, 1]


def test_dtypes_are_promoted():
    mixed = torch.cat([torch.tensor([2**24 + 1]), torch.ones(1)])
    assert mixed.dtype == torch.float32
    assert mixed[0] == 2**24  # no longer exact
    labels = torch.cat([torch.tensor([]), torch.tensor([1, 2])])
    assert labels.dtype == torch.float32


def test_the_names_of_numpy():
    pair = [snippet.a, snippet.b]
    assert torch.equal(torch.vstack(pair), torch.concat(pair))
    for join in (torch.hstack, torch.column_stack):
        assert torch.equal(join(pair), torch.cat(pair, dim=1))


def test_the_new_dimension_last():
    last = torch.stack([snippet.a, snippet.b, snippet.c], dim=-1)
    assert last.shape == (10, 5, 3)
    assert torch.equal(last[..., 1], snippet.b)


def test_the_documented_errors():
    with raises_as_documented(PAGE, "RuntimeError: stack expects each"):
        torch.stack([torch.zeros(2), torch.zeros(3)])
    with raises_as_documented(PAGE, "RuntimeError: stack expects each"):
        list(DataLoader([torch.zeros(2), torch.zeros(3)], batch_size=2))
    with raises_as_documented(PAGE, "RuntimeError: Sizes of tensors"):
        torch.cat([torch.zeros(2, 3), torch.zeros(2, 4)])
    with raises_as_documented(
        PAGE, "RuntimeError: Tensors must have"
    ):  # a single sample after a batch
        torch.cat([torch.ones(2, 2), torch.ones(2)])
    with raises_as_documented(PAGE, "RuntimeError: zero-dimensional tensor (at"):
        torch.cat([torch.tensor(1.0), torch.tensor(2.0)])
    with raises_as_documented(PAGE, "ValueError: only one element"):
        torch.tensor([torch.zeros(2), torch.zeros(2)])
    with raises_as_documented(PAGE, "TypeError: cat(): argument 'tensors'"):
        torch.cat(torch.zeros(2), torch.zeros(2))
    with raises_as_documented(PAGE, "ValueError: torch.cat(): expected a"):
        torch.cat([])
    with raises_as_documented(PAGE, "RuntimeError: stack expects a"):
        torch.stack([])
    with raises_as_documented(PAGE, "AttributeError: 'Tensor' object has"):
        torch.zeros(2).append(1)


def test_the_fixes():
    assert torch.cat([torch.ones(2, 2), torch.ones(2)[None]]).shape == (3, 2)
    assert torch.cat([torch.zeros(2, 3), torch.zeros(2, 4)], dim=1).shape == (2, 7)
    assert pad_sequence([torch.ones(2), torch.ones(3)]).shape == (3, 2)
    losses = [torch.ones(2, requires_grad=True).sum().detach() for _ in range(3)]
    assert torch.stack(losses).tolist() == [2, 2, 2]
