"""err-bool-ambiguous: every way to ask raised, every mend compared by hand."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "errors/err-bool-ambiguous"
ANSWER = recipes()["err-bool-ambiguous"].answer
A, B = torch.tensor([1.0, 5.0]), torch.tensor([4.0, 2.0])
ASKED = {
    "if": lambda: 1 if A > 0 else 2,
    "same": lambda: bool(A == B),
    "dictionaries": lambda: (
        nn.Linear(2, 1).state_dict() == nn.Linear(2, 1).state_dict()
    ),
    "loss": lambda: nn.CrossEntropyLoss(torch.randn(2, 3), torch.tensor([0, 1])),
    "and": lambda: A > 0 and B > 0,
    "not": lambda: not A,
    "chained": lambda: 0 < A < 1,
    "given": lambda: A or B,
    "in": lambda: A in [B, A],
    "index": lambda: [B, A].index(A),
    "max": lambda: max(A, B),
    "sorted": lambda: sorted([A, B]),
    "best": lambda: bool(F.mse_loss(A, B, reduction="none") < 9),
}


@pytest.mark.parametrize("asked", ASKED)
def test_each_cause_raises_it(asked):
    with raises_as_documented(
        PAGE, "RuntimeError: Boolean value of Tensor with more than one"
    ):
        ASKED[asked]()


def test_the_mends_in_python_numbers():
    assert torch.maximum(A, B).tolist() == [4, 5]
    torch.testing.assert_close({"w": A}, {"w": A.clone()})
    with pytest.raises(AssertionError, match="not close"):
        torch.testing.assert_close({"w": A}, {"w": B})
    assert any(A is t for t in [B, A])
    assert not any(A is t for t in [B, A.clone()])
    assert (~(A > 2) | (B > 3)).tolist() == [True, False]
    loss = nn.CrossEntropyLoss()(torch.zeros(2, 3), torch.tensor([0, 1]))
    assert loss.item() == pytest.approx(np.log(3))


@pytest.mark.parametrize("values", [[-1.0, 2.0, 3.0], [4.0], [0.5, 1.0], [-2.0, -0.5]])
def test_the_answer_asks_about_every_element(values, capsys):
    exec(ANSWER.text, {"x": torch.tensor(values)})
    assert bool(capsys.readouterr().out) is all(v > 0 for v in values)
    exec(ANSWER.text.replace(".all()", ".any()"), {"x": torch.tensor(values)})
    assert bool(capsys.readouterr().out) is any(v > 0 for v in values)


def test_masks_and_the_choice_for_each_element():
    found = load_snippet("errors/err_bool_ambiguous.py")
    values = found.x.tolist()
    assert found.inside.tolist() == [0 < v < 2.5 for v in values]
    expected = [v if v > 2 else v / 10 for v in values]
    assert found.y.tolist() == pytest.approx(expected)


def test_one_element_has_a_truth_value():
    assert bool(torch.tensor([[3.0]]) > 0)
    assert not torch.tensor([0])


def test_the_choice_for_each_element_compiles_whole():
    choose = torch.compile(
        lambda x: torch.where(x > 0, x, 0.1 * x), backend="eager", fullgraph=True
    )
    assert choose(A).equal(A)


def test_the_neighbouring_messages():
    with raises_as_documented(PAGE, "RuntimeError: Boolean value of Tensor with no"):
        bool(torch.tensor([]))
    with raises_as_documented(PAGE, "ValueError: The truth value of an array"):
        bool(np.ones(2) > 0)
