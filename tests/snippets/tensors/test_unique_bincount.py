"""unique-bincount: against Counter, NumPy and hand-worked groups; bad input."""

from collections import Counter

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/unique-bincount"
snippet = load_snippet("tensors/unique_bincount.py")
y = snippet.y


def test_counts_are_those_of_a_counter():
    assert y.tolist() == [2, 0, 2, 5, 2]
    counter = Counter(y.tolist())
    pairs = zip(snippet.values.tolist(), snippet.counts.tolist(), strict=True)
    assert dict(pairs) == counter
    assert snippet.common.item() == counter.most_common(1)[0][0]
    assert snippet.per_class.tolist() == [counter[i] for i in range(8)]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_the_answer_where_classes_are_absent(dtype):
    names = {"y": torch.tensor([3, 1, 3], dtype=dtype), "C": 6}
    exec(answer("unique-bincount"), names)
    assert names["values"].tolist() == [1, 3]
    assert names["counts"].tolist() == [1, 2]
    assert names["common"] == 3
    assert names["per_class"].tolist() == [0, 1, 0, 2, 0, 0]


def test_the_inverse_is_that_of_numpy():
    values, inverse = np.unique(y.numpy(), return_inverse=True)
    np.testing.assert_array_equal(snippet.values, values)
    np.testing.assert_array_equal(snippet.inverse, inverse)


def test_the_mean_of_each_group():
    prices = {0: [4.0], 2: [1.0, 2.0, 3.0], 5: [7.0]}
    assert snippet.mean.tolist() == [np.mean(prices[v]) for v in (0, 2, 5)]


def test_the_histogram_is_that_of_numpy():
    expected, _ = np.histogram(snippet.x.numpy(), bins=4, range=(0, 1))
    np.testing.assert_array_equal(snippet.bins, expected)
    np.testing.assert_array_equal(snippet.x, np.float32([0.1, 0.4, 0.45, 0.9]))
    x = torch.tensor([-1.0, 0.5, 2.0, float("nan")])
    assert torch.histc(x, bins=2, min=0, max=1).sum() == 1
    edges = torch.tensor([0.0, 0.2, 1.0])
    expected, _ = np.histogram(snippet.x.numpy(), edges.numpy())
    np.testing.assert_array_equal(torch.histogram(snippet.x, edges).hist, expected)


def test_without_minlength_the_last_classes_are_missing():
    assert torch.bincount(y).tolist() == [1, 0, 3, 0, 0, 1]
    assert torch.bincount(torch.tensor([0, 1])).shape == (2,)


def test_an_ignored_label_lengthens_the_counts():
    y = torch.tensor([[0, 255], [2, 0]])
    names = {"y": y.flatten(), "C": 3}
    exec(answer("unique-bincount"), names)
    assert len(names["per_class"]) == 256
    names["y"] = y[y != 255]
    exec(answer("unique-bincount"), names)
    assert names["per_class"].tolist() == [2, 0, 1]


def test_python_finds_no_duplicates_in_a_tensor():
    assert len(set(y)) == 5
    assert max(Counter(y).values()) == 1
    assert set(y.tolist()) == {0, 2, 5}


def test_the_order_of_first_appearance():
    values = snippet.values
    assert y.unique(sorted=False).tolist() == [0, 2, 5]
    first = (values[:, None] == y).int().argmax(1)
    _, expected = np.unique(y.numpy(), return_index=True)
    np.testing.assert_array_equal(first, expected)
    assert values[first.argsort()].tolist() == list(dict.fromkeys(y.tolist()))


def test_what_is_refused():
    for bad in (torch.tensor([-1, 2]), torch.tensor([[1, 2]])):
        with raises_as_documented(PAGE, "RuntimeError: bincount only"):
            torch.bincount(bad)
    with raises_as_documented(PAGE, 'NotImplementedError: "bincount_cpu"'):
        torch.bincount(torch.tensor([1.0]))
    with raises_as_documented(PAGE, 'NotImplementedError: "histogram_cpu"'):
        torch.histc(y, bins=4, min=0, max=5)
    with raises_as_documented(PAGE, "ValueError: too many"):
        _values, _counts = y.unique()
    with raises_as_documented(PAGE, "ValueError: too many"):
        _values, _counts = y.unique(return_inverse=True, return_counts=True)
    with raises_as_documented(PAGE, "RuntimeError: torch.histc"):
        torch.histc(torch.tensor([0, float("inf"), 1]), bins=4)
    with raises_as_documented(PAGE, "TypeError: _return_output()"):
        torch.unique(y, return_index=True)
    with raises_as_documented(PAGE, "AttributeError: 'Tensor' object"):
        y.value_counts()


def test_variants():
    values, counts = y.unique(return_counts=True)
    assert values[counts.topk(1).indices].tolist() == [2]
    table = torch.tensor([[1, 2], [0, 1], [1, 2]])
    rows, counts = table.unique(dim=0, return_counts=True)
    assert rows.tolist() == [[0, 1], [1, 2]]
    assert counts.tolist() == [1, 2]
    runs, counts = torch.unique_consecutive(
        torch.tensor([1, 1, 2, 1]), return_counts=True
    )
    assert runs.tolist() == [1, 2, 1]
    assert counts.tolist() == [2, 1, 1]
    per_row = F.one_hot(torch.tensor([[1, 2, 1], [0, 1, 1]]), 3).sum(1)
    assert per_row.tolist() == [[0, 2, 1], [1, 2, 0]]


def test_bincount_has_no_gradient():
    weights = torch.ones(5, requires_grad=True)
    total = torch.bincount(y, weights=weights)
    with raises_as_documented(PAGE, "RuntimeError: derivative for"):
        total.sum().backward()
