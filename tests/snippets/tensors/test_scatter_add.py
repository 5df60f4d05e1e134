"""scatter-add: against np.add.at and hand-worked groups, gradients, bad input."""

import warnings

import numpy as np
import pytest
import torch

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/scatter-add"
snippet = load_snippet("tensors/scatter_add.py")
x, group = snippet.x, snippet.group
six = torch.tensor([0, 2, 0, 2, 2])
scores = torch.tensor([1.0, 2.0, 3.0, 4.0, 9.0])


def test_the_sums_are_those_of_numpy():
    assert x.tolist() == [[1, 8], [5, 2], [3, 4]]
    expected = np.zeros((4, 2))
    np.add.at(expected, group.numpy(), x.numpy())
    np.testing.assert_array_equal(snippet.total, expected)


def test_means_and_maxima_of_each_group():
    assert snippet.count.tolist() == [2, 0, 1, 0]
    assert snippet.mean.tolist() == [[2, 6], [0, 0], [5, 2], [0, 0]]
    assert snippet.largest.tolist() == [[3, 8], [0, 0], [5, 2], [0, 0]]
    mean = torch.zeros(4, 2).scatter_reduce(
        0, group[:, None].expand_as(x), x, "mean", include_self=False
    )
    assert torch.equal(mean, snippet.mean)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_answer_in_another_dtype_and_with_a_bad_group(dtype):
    names = {"x": x.to(dtype), "group": group, "G": 5}
    exec(answer("scatter-add"), names)
    assert names["mean"].tolist() == [[2, 6], [0, 0], [5, 2], [0, 0], [0, 0]]
    assert names["mean"].dtype == dtype
    for bad in (-100, 5):
        names["group"] = torch.tensor([0, bad, 0])
        with pytest.raises(RuntimeError, match=f"index {bad} is out of bounds"):
            exec(answer("scatter-add"), names)


def test_sums_in_half_precision():
    group, ones = torch.arange(4000) % 4, torch.ones(4000)
    stuck = torch.zeros(4).bfloat16().index_add(0, group, ones.bfloat16())
    assert stuck.tolist() == [256] * 4
    x = torch.full((4000, 2), 100.0, dtype=torch.float16)
    names = {"x": x, "group": group, "G": 4}
    exec(answer("scatter-add"), names)
    assert names["mean"].isinf().all()
    names["x"] = x.float()
    exec(answer("scatter-add"), names)
    assert names["mean"].tolist() == [[100, 100]] * 4


def test_a_histogram_of_each_row():
    rows = snippet.ids.tolist()
    assert rows == [[1, 1, 3], [0, 2, 2]]
    assert snippet.hist.tolist() == [[row.count(i) for i in range(4)] for row in rows]


def test_a_repeated_index():
    out = torch.zeros(3)
    out[six] += 1
    assert out.tolist() == [1, 0, 1]
    out = torch.zeros(3).index_put_((six,), scores, accumulate=True)
    assert out.tolist() == [4, 0, 15]
    assert torch.zeros(3).index_add(0, six, scores).tolist() == [4, 0, 15]
    assert torch.zeros(3).scatter(0, six, scores)[0] in (1, 3)


def test_the_old_values_count_unless_left_out():
    mean = torch.zeros(3).scatter_reduce(0, six, scores, "mean")
    assert mean.tolist() == pytest.approx([4 / 3, 0, 15 / 4])
    largest = torch.zeros(3).scatter_reduce(0, six, -scores, "amax")
    assert largest.tolist() == [0, 0, 0]
    largest = torch.zeros(3).scatter_reduce(0, six, -scores, "amax", include_self=False)
    assert largest.tolist() == [-1, 0, -2]


def test_an_index_that_is_not_expanded():
    part = torch.zeros(4, 2).scatter_add(0, group[:, None], x)
    assert part.tolist() == [[4, 0], [0, 0], [5, 0], [0, 0]]
    whole = torch.zeros(4, 2).scatter_add(0, group[:, None].expand_as(x), x)
    assert torch.equal(whole, snippet.total)
    with raises_as_documented(PAGE, "RuntimeError: Index tensor must"):
        torch.zeros(4, 2).scatter_add(0, group, x)


def test_gradients_reach_what_was_added():
    source = x.clone().requires_grad_()
    weight = torch.tensor([[1.0], [10.0], [100.0], [1000.0]])
    (torch.zeros(4, 2).index_add(0, group, source) * weight).sum().backward()
    assert source.grad.tolist() == [[1, 1], [100, 100], [1, 1]]
    source = torch.ones(2, 3, requires_grad=True)
    out = torch.zeros(2, 4).scatter_add(1, snippet.ids, source)
    (out * torch.arange(4.0)).sum().backward()
    assert source.grad.tolist() == snippet.ids.tolist()


def test_groups_out_of_range():
    with raises_as_documented(PAGE, "RuntimeError: index 4 is"):
        torch.zeros(4).scatter_add(0, torch.tensor([4, 0]), torch.ones(2))
    for bad in ([4, 0], [-1, 0]):
        with raises_as_documented(PAGE, "IndexError: index out"):
            torch.zeros(4).index_add(0, torch.tensor(bad), torch.ones(2))
    ids = torch.tensor([900, 17, 900])
    names, inverse = ids.unique(return_inverse=True)
    total = torch.zeros(len(names)).index_add(0, inverse, torch.ones(3))
    assert total.tolist() == [1, 2]
    assert torch.zeros(group.max() + 1).shape == (3,)


def test_what_is_refused():
    out = torch.zeros(3)
    with raises_as_documented(PAGE, "RuntimeError: scatter(): Expected self"):
        out.scatter_add(0, six, scores.half())
    with raises_as_documented(PAGE, "RuntimeError: index_add_(): self"):
        out.index_add(0, six, scores.double())
    with raises_as_documented(PAGE, "RuntimeError: scatter(): Expected dtype"):
        out.scatter_add(0, six.float(), scores)
    with raises_as_documented(PAGE, "RuntimeError: reduce argument"):
        out.scatter_reduce(0, six, scores, "add")


def test_scatter_wants_as_many_dimensions_in_src():
    x, index, values = torch.zeros(2, 3), torch.tensor([[1, 0]]), torch.ones(2)
    with raises_as_documented(PAGE, "IndexError: Dimension out of range"):
        x.scatter(0, index, values)
    expected = torch.tensor([[0.0, 1, 0], [1, 0, 0]])
    assert torch.equal(x.scatter(0, index, values[None]), expected)


def test_the_old_argument_warns():
    out = torch.zeros(3)
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with raises_as_documented(PAGE, "UserWarning: The reduce"):
                out.scatter_(0, six, scores, reduce="add")
    finally:
        torch.set_warn_always(False)


def test_variants():
    sums = torch.bincount(six, weights=scores)
    assert torch.equal(sums, torch.zeros(3).index_add(0, six, scores))
    assert snippet.mean[group].tolist() == [[2, 6], [5, 2], [2, 6]]


def test_deterministic_algorithms_give_the_same():
    torch.use_deterministic_algorithms(True)
    try:
        total = torch.zeros(4, 2).index_add(0, group, x)
    finally:
        torch.use_deterministic_algorithms(False)
    assert torch.equal(total, snippet.total)
