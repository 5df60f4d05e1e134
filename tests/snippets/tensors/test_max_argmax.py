"""max-argmax: against NumPy, ties and gradients by hand, what it refuses."""

import numpy as np
import torch
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/max-argmax"
snippet = load_snippet("tensors/max_argmax.py")
NAN = float("nan")


def test_values_and_indices_are_those_of_numpy():
    scores = snippet.scores.numpy()
    np.testing.assert_array_equal(snippet.predicted, scores.argmax(1))
    np.testing.assert_array_equal(snippet.values, scores.max(1))
    assert snippet.largest == scores.max()
    assert snippet.scores[snippet.row, snippet.column] == scores.max()
    where = np.unravel_index(scores.argmax(), scores.shape)
    assert (snippet.row, snippet.column) == where
    np.testing.assert_array_equal(snippet.limited, np.maximum(scores, np.float32(0.25)))


def test_the_answer_for_one_row_of_integers_and_for_negative_numbers():
    for x in (torch.tensor([[3, 9, 9]]), -torch.rand(5, 2).bfloat16()):
        names = {"scores": x}
        exec(answer("max-argmax"), names)
        array = x.double().numpy()
        np.testing.assert_array_equal(names["predicted"], array.argmax(1))
        np.testing.assert_array_equal(names["values"].double(), array.max(1))
        assert names["largest"].dtype == x.dtype
        assert x[names["row"], names["column"]] == names["largest"] == array.max()


def test_the_wrong_dimension_has_the_wrong_length():
    assert snippet.scores.argmax(0).shape == (3,)
    assert snippet.scores.argmax().item() == 1


def test_one_output_for_two_classes():
    scores = torch.tensor([[-2.0], [0.5], [3.0]])
    assert scores.argmax(1).tolist() == [0, 0, 0]
    by_hand = [[1 / (1 + np.exp(-s)) > 0.5] for s in (-2.0, 0.5, 3.0)]
    assert (scores > 0).long().tolist() == (scores.sigmoid() > 0.5).tolist() == by_hand


def test_ties_go_to_the_first():
    x = torch.tensor([[2.0, 5.0, 5.0], [7.0, 7.0, 1.0]])
    assert x.argmax(1).tolist() == x.max(1).indices.tolist() == [1, 0]
    assert (x == x.amax(1, keepdim=True)).tolist() == [
        [False, True, True],
        [True, True, False],
    ]


def gradient(function):
    x = torch.tensor([1.0, 5.0, 5.0], requires_grad=True)
    function(x).backward()
    return x.grad.tolist()


def test_the_gradient_of_ties():
    assert gradient(lambda x: x.max(0).values) == [0, 1, 0]
    assert gradient(lambda x: x.amax(0)) == [0, 0.5, 0.5]
    assert gradient(lambda x: x.max()) == [0, 0.5, 0.5]


def test_argmax_has_no_gradient():
    x = torch.randn(2, 3, requires_grad=True)
    with raises_as_documented(PAGE, "RuntimeError: element 0 of tensors"):
        (x.argmax(1).float() - 1).square().mean().backward()


def test_max_returns_two_things():
    x = torch.randn(2, 3)
    with raises_as_documented(PAGE, "AttributeError: 'torch.return_types.max'"):
        x.max(dim=1).float()
    with raises_as_documented(PAGE, "TypeError: cross_entropy_loss()"):
        F.cross_entropy(x.max(1), torch.tensor([0, 1]))
    with raises_as_documented(PAGE, "TypeError: unsupported operand"):
        x.max(1) - 1


def test_nan_is_the_largest():
    x = torch.tensor([1.0, NAN, 3.0])
    assert x.max().isnan()
    assert x.argmax() == 1
    assert x.nan_to_num(nan=float("-inf")).argmax() == 2


def test_what_is_refused():
    with raises_as_documented(PAGE, "RuntimeError: Boolean value of Tensor"):
        max(torch.randn(2, 3))
    with raises_as_documented(PAGE, "NotImplementedError: argmax(): does not"):
        torch.tensor([False, True]).argmax()
    with raises_as_documented(PAGE, "RuntimeError: max(): Expected reduction"):
        torch.zeros(0).max()
    with raises_as_documented(PAGE, "TypeError: maximum(): argument"):
        torch.maximum(torch.zeros(3), 0)


def test_the_first_true_element():
    assert torch.tensor([False, True, True]).int().argmax() == 1
    x = torch.tensor([1.0, -2.0])
    assert torch.equal(x.clamp(min=0), torch.maximum(x, torch.tensor(0.0)))
