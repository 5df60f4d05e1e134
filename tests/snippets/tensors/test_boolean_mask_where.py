"""boolean-mask-where: against NumPy, the gradients by hand, what it refuses."""

import numpy as np
import pytest
import torch

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/boolean-mask-where"
snippet = load_snippet("tensors/boolean_mask_where.py")


def test_the_mask_and_what_it_selects_are_those_of_numpy():
    x = snippet.x.numpy()
    mask = np.logical_and(x > 0, x < 6)
    np.testing.assert_array_equal(snippet.mask, mask)
    np.testing.assert_array_equal(snippet.values, x[mask])
    np.testing.assert_array_equal(snippet.kept, np.where(mask, x, 0))
    np.testing.assert_array_equal(snippet.scores, np.where(mask, x, -np.inf))
    np.testing.assert_array_equal(snippet.rows, x[[0]])
    np.testing.assert_array_equal(snippet.clipped, np.maximum(x, 0))
    assert x.tolist() == [[1, -2, 3], [-4, 5, 9]]  # not changed


def test_masked_elements_have_no_probability():
    shares = snippet.scores.softmax(1)
    assert (shares[~snippet.mask] == 0).all()
    torch.testing.assert_close(shares.sum(1), torch.ones(2))
    assert torch.full((1, 2), float("-inf")).softmax(1).isnan().all()


@pytest.mark.parametrize(
    "condition",
    [
        lambda x: (x > 1) and (x < 4),
        lambda x: (x > 1) or (x < 4),
        lambda x: not (x > 1),
        lambda x: 1 < x < 4,
        lambda x: 1 if x > 1 else 0,
        lambda x: x > 1 & x < 4,
    ],
)
def test_python_operators_need_one_truth_value(condition):
    with raises_as_documented(PAGE, "RuntimeError: Boolean value of Tensor with more"):
        condition(torch.arange(6))


def test_a_second_index_writes_into_a_copy():
    x = torch.arange(6.0)
    x[x > 2][0] = 100
    assert x.tolist() == list(range(6))
    x[torch.nonzero(x > 2)[0]] = 100
    assert x.tolist() == [0, 1, 2, 100, 4, 5]


def test_where_passes_nan_gradients_unless_the_input_is_safe():
    x = torch.tensor([0.0, -1.0, 4.0], requires_grad=True)
    torch.where(x > 0, x.sqrt(), 0).sum().backward()
    assert x.grad[:2].isnan().all()
    x.grad = None
    safe = torch.where(x > 0, x, 1.0)
    torch.where(x > 0, safe.sqrt(), 0).sum().backward()
    assert x.grad.tolist() == [0, 0, 0.25]


def test_a_mask_selects_rows_or_columns():
    x, mask = torch.arange(6.0).reshape(2, 3), torch.tensor([True, False, True])
    assert x[:, mask].tolist() == [[0, 2], [3, 5]]
    with raises_as_documented(PAGE, "IndexError: The shape of the mask"):
        x[mask]


def test_masks_must_be_boolean():
    x, mask = torch.zeros(3), torch.tensor([0, 1, 1])
    assert x.masked_fill(mask.bool(), 1).tolist() == [0, 1, 1]
    row = torch.tensor([10, 20, 30])
    assert row[mask].tolist() == [10, 20, 20]  # positions
    assert (
        row[mask.bool()].tolist() == row.masked_select(mask.bool()).tolist() == [20, 30]
    )
    with raises_as_documented(PAGE, "RuntimeError: masked_fill_ only"):
        x.masked_fill(mask, 1)
    with raises_as_documented(PAGE, "RuntimeError: where expected"):
        torch.where(mask, x, 1)


def test_filled_from_the_same_places_or_from_the_first_values():
    x, other = torch.zeros(2, 3), torch.arange(6.0).reshape(2, 3)
    mask = other % 2 == 1
    first = x.clone().masked_scatter_(mask, other)
    x[mask] = other[mask]
    np.testing.assert_array_equal(x, np.where(mask, other, 0))
    assert first[mask].tolist() == [0, 1, 2]


def test_other_messages():
    x = torch.arange(3.0)
    with raises_as_documented(PAGE, "RuntimeError: Boolean value of Tensor with no"):
        bool(x[x > 9])
    with raises_as_documented(PAGE, 'NotImplementedError: "bitwise_and_cpu"'):
        x > 1 & x  # noqa: B015
    with raises_as_documented(PAGE, "RuntimeError: shape mismatch"):
        x[x > -1] = torch.tensor([1.0, 2.0])
    with raises_as_documented(PAGE, "RuntimeError: Index put requires"):
        x[x > -1] = torch.tensor([1, 2, 3])
    with raises_as_documented(
        PAGE, "RuntimeError: value cannot be converted to type int64_t"
    ):
        x.long().masked_fill(x > 1, float("-inf"))
    torch.set_warn_always(True)  # else once per process
    try:
        with raises_as_documented(PAGE, "UserWarning: indexing with dtype"):
            x[torch.tensor([1, 0, 1], dtype=torch.uint8)]
    finally:
        torch.set_warn_always(False)


def test_a_large_number_does_not_fit_into_half_precision():
    x, mask = torch.randn(2, 3).half(), torch.tensor([True, False, True])
    with raises_as_documented(
        PAGE, "RuntimeError: value cannot be converted to type c10::Half"
    ):
        x.masked_fill(mask, -1e9)
    assert x.masked_fill(mask, float("-inf")).softmax(1)[:, 1].eq(1).all()
    none = x.masked_fill(torch.tensor(True), torch.finfo(x.dtype).min)
    assert none.softmax(1).isfinite().all()


def test_the_two_sides_are_promoted():
    x = torch.arange(3.0)
    assert torch.where(x > 1, x, 0).dtype == torch.float32
    assert torch.where(x > 1, x, x.double()).dtype == torch.float64
    assert torch.where(x > 1, x, x.flip(0)).tolist() == [2, 1, 2]


@pytest.mark.parametrize(
    "x", [torch.arange(-2, 9), torch.full((2, 2), -1.0).bfloat16(), torch.rand(0, 3)]
)
def test_the_answer_on_integers_on_nothing_and_where_nothing_fits(x):
    names = {"x": x}
    exec(answer("boolean-mask-where"), names)
    wanted = [v for v in x.flatten().tolist() if 0 < v < 6]
    assert names["values"].tolist() == wanted
    assert names["kept"].dtype == x.dtype
    assert names["kept"].shape == x.shape
    assert names["kept"].sum() == sum(wanted)
