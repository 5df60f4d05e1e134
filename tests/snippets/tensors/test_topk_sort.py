"""topk-sort: against sorted() and NumPy, ties, NaN, what it refuses."""

import numpy as np
import torch

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/topk-sort"
snippet = load_snippet("tensors/topk_sort.py")
NAN = float("nan")


def test_the_input_is_the_one_of_the_page():
    assert snippet.x.tolist() == [[0.25, 0.75, 0, 0.5], [0.5, 0.125, 1, 0.25]]


def test_topk_is_the_start_of_a_sorted_list():
    for row, values, indices in zip(
        snippet.x.tolist(),
        snippet.values.tolist(),
        snippet.indices.tolist(),
        strict=True,
    ):
        assert values == sorted(row, reverse=True)[:2]
        assert [row[i] for i in indices] == values


def test_sort_gives_values_and_where_they_were():
    np.testing.assert_array_equal(snippet.ordered, -np.sort(-snippet.x.numpy(), axis=1))
    assert torch.equal(snippet.x.gather(1, snippet.order), snippet.ordered)


def test_whole_rows_stay_together():
    x = snippet.x.numpy()
    np.testing.assert_array_equal(snippet.rows, x[x[:, 1].argsort()])
    torn = snippet.x.sort(dim=0).values
    assert torn[0].tolist() not in x.tolist()


def test_the_rest_is_zero():
    assert snippet.kept.tolist() == [[0, 0.75, 0, 0.5], [0.5, 0, 1, 0]]
    assert snippet.mask.sum(1).tolist() == [2, 2]


def test_the_answer_for_integers_for_one_row_and_for_ties():
    for x, k in ((torch.tensor([[7, 7, 7, 1]]), 3), (torch.rand(4, 2).bfloat16(), 1)):
        names = {"x": x, "k": k}
        exec(answer("topk-sort"), names)
        expected = [sorted(row, reverse=True) for row in x.tolist()]
        assert names["ordered"].tolist() == expected
        assert names["values"].tolist() == [row[:k] for row in expected]
        assert names["mask"].sum(1).tolist() == [k] * len(x)
        assert names["kept"].sum(1).tolist() == names["values"].sum(1).tolist()
        assert (
            sorted(names["rows"].tolist(), key=lambda row: row[1])
            == names["rows"].tolist()
        )


def test_stable_keeps_the_order_of_ties():
    x = torch.tensor([1.0, 0.0] * 50)
    order = torch.argsort(x, descending=True, stable=True)
    assert order.tolist() == [*range(0, 100, 2), *range(1, 100, 2)]
    labels = sorted(range(100), key=lambda i: -x[i].item())
    assert order.tolist() == labels


def test_nan_counts_as_the_largest():
    x = torch.tensor([1.0, NAN, 3.0])
    assert x.topk(1).indices.tolist() == [1]
    assert x.sort().indices.tolist() == [0, 2, 1]
    x[0] = float("inf")  # stays inf, unlike with nan_to_num
    top = x.masked_fill(x.isnan(), float("-inf")).topk(3)
    assert top.values.tolist() == [float("inf"), 3, float("-inf")]
    assert top.indices.tolist() == [0, 2, 1]


def test_gradients_reach_the_selected_values():
    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    x.topk(2).values.sum().backward()
    assert x.grad.tolist() == [1, 0, 1]
    assert not x.argsort().requires_grad


def test_what_is_refused():
    x = torch.rand(2, 3)
    with raises_as_documented(PAGE, "RuntimeError: selected index k"):
        x.topk(4)
    with raises_as_documented(PAGE, "AttributeError: 'torch.return_types.topk'"):
        x.topk(2).float()
    with raises_as_documented(PAGE, "RuntimeError: Boolean value of"):
        sorted(x)
    with raises_as_documented(PAGE, "ValueError: step must be"):
        x[::-1]
    with raises_as_documented(PAGE, "NotImplementedError: topk does not"):
        (x > 0).topk(1)
    with raises_as_documented(PAGE, "TypeError: topk(): argument"):
        x.topk(2.0)


def test_variants():
    x = torch.tensor([3.0, 1.0, 2.0])
    assert x.topk(2, largest=False).values.tolist() == [1, 2]
    assert x.kthvalue(2).values.item() == 2
    assert x.sort().values.flip(0).tolist() == [3, 2, 1]
    assert x.topk(min(5, x.shape[-1])).values.tolist() == [3, 2, 1]
    ranks = x.argsort().argsort()
    assert ranks.tolist() == [2, 0, 1]
