"""nonzero-indices: against NumPy and a loop; the pitfalls as the page states them."""

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet, raises_as_documented

find = load_snippet("tensors/nonzero_indices.py").find
PAGE = "tensors/nonzero-indices"


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 4), (0,), (2, 0)], ids=str)
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.int8, torch.bool]
)
def test_against_numpy(shape, dtype):
    torch.manual_seed(0)
    x = torch.randint(-1, 2, shape).to(dtype)
    for mask in (x != 0, x == 0):
        coordinates, values = find(x, mask)
        assert coordinates.dtype == torch.int64
        assert values.dtype == dtype
        np.testing.assert_array_equal(coordinates, np.argwhere(mask.numpy()))
        expected = [x[tuple(at)].item() for at in coordinates.tolist()]
        assert values.tolist() == expected
        assert torch.equal(torch.argwhere(mask), coordinates)
        assert torch.equal(torch.nonzero(mask), coordinates)
        counted = torch.count_nonzero(mask)
        assert counted == mask.sum() == len(values) == np.count_nonzero(mask)


def test_values_that_differ_and_come_in_row_major_order():
    x = torch.arange(12).view(3, 4).T  # not contiguous
    coordinates, values = find(x, x % 5 == 1)
    assert coordinates.tolist() == [[1, 0], [2, 1], [3, 2]]
    assert values.tolist() == [1, 6, 11]


def test_nothing_found():
    coordinates, values = find(torch.ones(2, 3), torch.zeros(2, 3, dtype=torch.bool))
    assert coordinates.shape == (0, 2)
    assert values.shape == (0,)


def test_a_mask_of_the_first_dimensions_finds_rows():
    x = torch.arange(6).view(2, 3)
    coordinates, values = find(x, torch.tensor([False, True]))
    assert coordinates.tolist() == [[1]]
    assert values.tolist() == [[3, 4, 5]]


def test_values_keep_the_graph():
    x = torch.tensor([1.0, -1.0, 2.0], requires_grad=True)
    find(x, x > 0)[1].sum().backward()
    assert x.grad.tolist() == [1, 0, 1]


def test_the_documented_errors():
    x = torch.ones(2, 2)
    with raises_as_documented(PAGE):
        find(x, torch.tensor([True, False, True]))
    with raises_as_documented(PAGE):
        _ = x > 0 and x < 5
    with pytest.raises(IndexError):
        torch.zeros(3).nonzero()[0]
    with pytest.raises(IndexError):
        find(torch.ones(3, 3), torch.ones(2, 2, dtype=torch.bool))


def test_pitfalls():
    x = torch.tensor([[0, 2], [3, 0]])
    assert x[torch.nonzero(x)].shape == (2, 2, 2)
    assert x[torch.nonzero(x, as_tuple=True)].tolist() == [2, 3]
    assert x[torch.tensor([True, False])].tolist() == [[0, 2]]  # whole rows
    row = torch.tensor([10, 20, 30])
    zeros_and_ones = torch.tensor([1, 0, 1])
    assert row[zeros_and_ones].tolist() == [20, 10, 20]
    assert row[zeros_and_ones.bool()].tolist() == [10, 30]
    assert ((row > 10) & (row < 30)).tolist() == [False, True, False]
    assert torch.nonzero(x).size(0) == torch.count_nonzero(x) == 2


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
