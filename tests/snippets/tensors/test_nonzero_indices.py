"""nonzero-indices: against NumPy and a loop; the pitfalls as the page states them."""

import math

import numpy as np
import pytest
import torch

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/nonzero-indices"
snippet = load_snippet("tensors/nonzero_indices.py")


def test_a_loop_finds_the_same():
    found = [
        (row, column, value)
        for row, line in enumerate(snippet.x.tolist())
        for column, value in enumerate(line)
        if value != 0
    ]
    assert found == [(0, 1, 7), (1, 0, 5), (1, 1, 9), (1, 2, -3)]
    assert snippet.places.tolist() == [[row, column] for row, column, _ in found]
    rows, columns = snippet.index
    assert rows.tolist() == [row for row, *_ in found]
    assert columns.tolist() == [column for _, column, _ in found]
    assert snippet.x[snippet.index].tolist() == [value for *_, value in found]
    assert snippet.count == len(found)


def test_numpy_finds_the_same():
    mask = snippet.mask.numpy()
    np.testing.assert_array_equal(mask, snippet.x.numpy() != 0)
    np.testing.assert_array_equal(snippet.places, np.argwhere(mask))
    for ours, theirs in zip(snippet.index, np.nonzero(mask), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_what_is_printed(capsys):
    load_snippet("tensors/nonzero_indices.py")
    assert capsys.readouterr().out.splitlines() == [
        "4 at [[0, 1], [1, 0], [1, 1], [1, 2]] values [7, 5, 9, -3]",
        "zeros per row [2, 0]",
    ]


@pytest.mark.parametrize("shape", [(7,), (2, 3, 4), (0,), (2, 0)], ids=str)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int8, torch.bool])
def test_the_calls_agree_with_numpy_for_other_data(shape, dtype):
    torch.manual_seed(0)
    x = torch.randint(-1, 2, shape).to(dtype)
    for mask in (x != 0, x == 0):
        where = torch.nonzero(mask)
        np.testing.assert_array_equal(where, np.argwhere(mask.numpy()))
        expected = [x[tuple(at)].item() for at in where.tolist()]
        assert x[mask].tolist() == expected
        counted = torch.count_nonzero(mask)
        assert counted == mask.sum() == len(where) == np.count_nonzero(mask)


def test_the_documented_errors():
    with raises_as_documented(PAGE, "IndexError: index 0 is"):
        torch.zeros(3).nonzero()[0]


def test_pitfalls():
    x = torch.tensor([[0, 2], [3, 0]])
    assert x[torch.nonzero(x)].shape == (2, 2, 2)
    assert x[torch.nonzero(x, as_tuple=True)].tolist() == [2, 3]
    wide = torch.tensor([[0, 2, 4], [3, 0, 0]])
    with pytest.raises(IndexError, match="index 2 is out of bounds"):
        wide[torch.nonzero(wide)]


def test_the_answer_where_nothing_is_found():
    names = {"x": torch.zeros(2, 3, dtype=torch.bfloat16)}
    exec(answer("nonzero-indices"), names)
    assert [part.tolist() for part in names["index"]] == [[], []]
    assert names["places"].shape == (0, 2)
    assert names["count"] == 0


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4)], ids=str)
def test_the_answer_for_any_number_of_dimensions(shape):
    x = torch.arange(24)[: math.prod(shape)].reshape(shape) % 3
    names = {"x": x}
    exec(answer("nonzero-indices"), names)
    expected = np.argwhere(x.numpy() != 0)
    assert names["places"].tolist() == expected.tolist()
    assert names["count"] == len(expected)
    if shape:
        assert torch.equal(x[names["index"]], x[x != 0])
        assert torch.equal(names["places"], torch.argwhere(names["mask"]))
        same = zip(names["index"], torch.where(names["mask"]), strict=True)
        assert all(torch.equal(ours, theirs) for ours, theirs in same)


def test_almost_zero_and_nan():
    x = torch.tensor([0.1 + 0.2 - 0.3, float("nan"), 0.0, 1.0], dtype=torch.float64)
    assert torch.count_nonzero(x) == 3
    assert (x.abs() > 1e-6).tolist() == [False, False, False, True]


def test_fixed_shapes():
    x = torch.tensor([4.0, 0.0, 6.0])
    mask = x > 0
    assert torch.where(mask, x, 0).tolist() == [4, 0, 6]
    assert (x * mask).sum() / mask.sum() == x[mask].mean()
    assert torch.nonzero_static(mask, size=3).tolist() == [[0], [2], [-1]]
    assert torch.nonzero_static(mask, size=1).tolist() == [[0]]
    assert mask.nonzero()[0].tolist() == [0]
    table = torch.tensor([[0, 1], [2, 3]])
    assert torch.count_nonzero(table, dim=1).tolist() == [1, 2]
    assert (table != 0).sum(dim=0).tolist() == [1, 2]
