"""find-index-of-value: against lists and NumPy, what is absent, what is refused."""

import numpy as np
import pytest
import torch

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/find-index-of-value"
snippet = load_snippet("tensors/find_index_of_value.py")
x = torch.tensor([4, 7, 2, 7])


def test_the_places_of_a_value_are_those_of_a_loop():
    rows = snippet.x.tolist()
    pairs = [[b, t] for b, row in enumerate(rows) for t, v in enumerate(row)]
    wanted = [[b, t] for b, t in pairs if rows[b][t] == 102]
    assert snippet.places.tolist() == wanted == [[0, 1], [0, 3]]
    assert snippet.first.tolist() == [rows[0].index(102), -1]


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.bfloat16])
def test_the_answer_for_one_row_for_many_and_for_an_absent_value(dtype):
    for values, value, places, first in (
        ([4, 7, 2, 7], 7, [1, 3], 1),
        ([4, 7, 2, 7], 9, [], -1),
        ([[3, 1, 3], [0, 0, 0]], 3, [[0, 0], [0, 2]], [0, -1]),
    ):
        names = {"x": torch.tensor(values, dtype=dtype), "value": value}
        exec(answer("find-index-of-value"), names)
        assert names["places"].tolist() == places
        assert names["first"].tolist() == first


def test_isin_is_the_one_of_numpy():
    expected = np.isin(snippet.x.numpy(), [8, 102])
    np.testing.assert_array_equal(snippet.known, expected)


def test_a_row_of_a_table():
    assert snippet.row.tolist() == [[snippet.table.tolist().index([3, 4])]]
    assert snippet.table.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_an_absent_value_looks_like_the_first():
    assert (x == 9).int().argmax() == 0
    assert (x == 9).nonzero().squeeze(1).tolist() == []


def test_in_needs_one_equal_element_only():
    table, row = torch.tensor([[3, 4], [2, 1]]), torch.tensor([3, 1])
    assert row in table
    assert not (table == row).all(dim=1).any()
    assert 7 in x
    assert 9 not in x


def test_floats_and_nan():
    sums = torch.tensor([0.1, 0.5], dtype=torch.float64) + 0.2
    assert (sums == 0.3).nonzero().tolist() == []
    close = torch.isclose(sums, torch.tensor(0.3, dtype=sums.dtype))
    assert close.nonzero().tolist() == [[0]]
    nan = torch.tensor([1.0, float("nan")])
    assert not (nan == float("nan")).any()
    assert nan.isnan().tolist() == [False, True]


def test_what_is_refused():
    # A RuntimeError before torch 2.15, of which the other is a kind.
    if torch.__version__ >= "2.15":
        with raises_as_documented(PAGE, "NotImplementedError: argmax()"):
            (x == 7).argmax()
    else:
        with pytest.raises(RuntimeError, match="does not support bool input"):
            (x == 7).argmax()
    with raises_as_documented(PAGE, "AttributeError: 'bool' object"):
        (x == [2, 4]).nonzero()
    with raises_as_documented(PAGE, "TypeError: Tensor.index()"):
        x.index(7)
    with raises_as_documented(PAGE, "RuntimeError: a Tensor with 2"):
        (x == 7).nonzero().item()
    with raises_as_documented(PAGE, "RuntimeError: Tensor.__contains__"):
        [2, 4] in x  # noqa: B015
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a"):
        x == torch.tensor([2, 4])  # noqa: B015
    with raises_as_documented(PAGE, "TypeError: isin()"):
        torch.isin(x, [2, 4])


def test_a_list_of_tensors():
    tensors = [torch.tensor([1, 2]), torch.tensor([3, 4])]
    t = torch.tensor([3, 4])
    with raises_as_documented(PAGE, "RuntimeError: Boolean value"):
        tensors.index(t)
    with raises_as_documented(PAGE, "RuntimeError: Boolean value"):
        t in tensors  # noqa: B015
    assert [i for i, u in enumerate(tensors) if torch.equal(u, t)] == [1]


@pytest.mark.parametrize("rows", [[[7, 1, 7], [0, 0, 0], [1, 7, 0]], [4, 7, 2], [4, 2]])
def test_the_last_place_is_that_of_a_reversed_list(rows):
    def last(row):
        return len(row) - 1 - row[::-1].index(7) if 7 in row else -1

    hit = torch.tensor(rows) == 7
    found = torch.where(hit.any(-1), hit.cumsum(-1).argmax(-1), -1)
    nested = isinstance(rows[0], list)
    assert found.tolist() == ([last(row) for row in rows] if nested else last(rows))


def test_variants():
    assert x.tolist().index(7) == 1
    for dtype in (torch.int64, torch.uint8, torch.float64):
        assert (x.to(dtype) - 5.0).abs().argmin() == 0
    keys, wanted = torch.tensor([30, 10, 20]), torch.tensor([10, 20, 99])
    hit = keys == wanted[:, None]
    assert torch.where(hit.any(1), hit.int().argmax(1), -1).tolist() == [1, 2, -1]
    order = keys.argsort()
    found = order[torch.searchsorted(keys[order], wanted[:2])]
    assert found.tolist() == [1, 2]
