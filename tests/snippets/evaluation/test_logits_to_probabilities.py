"""logits-to-probabilities: by NumPy's exp; what each loss of the table takes."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "evaluation/logits-to-probabilities"
ANSWER = recipes()["logits-to-probabilities"].answer


@pytest.mark.parametrize("shape", [(4, 3), (1, 2), (2, 5, 3, 3)])
def test_the_answer_by_its_definition(shape):
    logits = torch.randn(shape) * 5
    names = {"logits": logits}
    exec(ANSWER.text, names)
    e = np.exp(logits.double().numpy())
    np.testing.assert_allclose(names["probs"], e / e.sum(1, keepdims=True), rtol=1e-4)
    np.testing.assert_allclose(names["several"], e / (1 + e), rtol=1e-4)
    np.testing.assert_array_equal(names["classes"], logits.numpy().argmax(1))
    assert torch.equal(names["present"], names["several"] > 0.5)
    assert torch.equal(names["classes"], names["probs"].argmax(1))


def test_the_losses_of_the_table_agree():
    logits, y = torch.randn(6, 3), torch.tensor([0, 1, 2, 2, 1, 0])
    cross = nn.CrossEntropyLoss()(logits, y)
    torch.testing.assert_close(nn.NLLLoss()(nn.LogSoftmax(dim=1)(logits), y), cross)
    probs = logits.softmax(1)
    torch.testing.assert_close(nn.LogSoftmax(dim=1)(logits).exp(), probs)
    expected = -probs[range(6), y].log().mean()
    torch.testing.assert_close(cross, expected)
    t = (logits > 1).float()
    torch.testing.assert_close(
        nn.BCELoss()(nn.Sigmoid()(logits), t), nn.BCEWithLogitsLoss()(logits, t)
    )


@pytest.mark.parametrize(("classes", "bound"), [(2, 0.31), (10, 1.46)])
def test_softmax_twice_has_a_floor(classes, bound):
    best = F.one_hot(torch.tensor([0]), classes).float()  # as sure as can be
    loss = F.cross_entropy(best, torch.tensor([0])).item()
    assert loss == pytest.approx(math.log(1 + (classes - 1) / math.e), rel=1e-5)
    assert loss > bound


def test_one_logit_and_two():
    assert torch.randn(4, 1).softmax(1).eq(1).all()
    z = torch.randn(5)
    two = torch.stack([torch.zeros(5), z], 1)
    torch.testing.assert_close(two.softmax(1)[:, 1], z.sigmoid())


def test_the_demonstration():
    found = load_snippet("evaluation/logits_to_probabilities.py")
    assert F.cross_entropy(found.probs, found.target) > found.loss


def test_the_messages():
    with raises_as_documented(PAGE, "RuntimeError: all elements of input"):
        nn.BCELoss()(torch.tensor([2.0]), torch.tensor([1.0]))
    with raises_as_documented(PAGE, "UserWarning: Implicit dimension"):
        F.softmax(torch.ones(2, 2))
