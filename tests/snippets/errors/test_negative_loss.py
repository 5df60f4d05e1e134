"""negative-loss: each row of its table, by NumPy and on data made for it."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, recipes

ANSWER = recipes()["negative-loss"].answer
SURE = torch.full((4, 1), 20.0)  # logits of a model that says yes


def said(capsys, outputs, targets):
    exec(ANSWER.text, {"outputs": outputs, "targets": targets})
    return capsys.readouterr().out


def test_the_snippet_meets_it_and_mends_it():
    found = load_snippet("errors/negative_loss.py")
    p = np.exp(found.logits.numpy())
    p /= p.sum(1, keepdims=True)
    chosen = p[np.arange(4), found.targets.numpy()]
    assert F.nll_loss(found.outputs, found.targets).item() == pytest.approx(
        -chosen.mean(), abs=1e-6
    )
    assert found.total.item() == pytest.approx(np.exp(p).sum(1).mean(), abs=1e-5)


@pytest.mark.parametrize(
    ("wrong", "mended"),
    [
        (torch.tensor([[1.0], [2], [2], [1]]), lambda y: y - 1),
        (torch.tensor([[-1.0], [1], [-1], [-1]]), lambda y: (y + 1) / 2),
        (torch.tensor([[0.0], [255], [255], [0]]), lambda y: (y > 0).float()),
    ],
)
def test_bce_with_targets_outside(capsys, wrong, mended):
    sign = -1 if wrong.min() < 0 else 1
    assert F.binary_cross_entropy_with_logits(sign * SURE, wrong) < 0
    assert F.binary_cross_entropy_with_logits(sign * SURE, mended(wrong)) >= 0
    assert f"to {wrong.max():g}\n" in said(capsys, SURE, wrong)


def test_nll_of_probabilities_has_a_limit_and_of_logits_none():
    y = torch.arange(3)
    assert -1 <= F.nll_loss(torch.eye(3), y) < 0
    assert F.nll_loss(1e6 * torch.eye(3), y) == -1e6


def test_what_should_sum_to_one(capsys):
    logits = torch.randn(5, 3)
    q = torch.randn(5, 3).softmax(1)
    assert F.kl_div(logits.softmax(1), q, reduction="batchmean") < 0
    assert F.kl_div(F.log_softmax(logits, 1), q, reduction="batchmean") >= 0
    assert "sums to 1.00" in said(capsys, F.log_softmax(logits, 1), q)
    assert "sums to 1.00" not in said(capsys, logits.softmax(1), q)
    signs = 2 * F.one_hot(torch.zeros(5, dtype=int), 3).float() - 1
    assert F.cross_entropy(torch.tensor([[9.0, 0, 0]] * 5), signs) < 0


def test_ctc_and_dice():
    lengths = torch.tensor([6]), torch.tensor([2])
    logits, labels = torch.full((6, 1, 3), 4.0), torch.tensor([[1, 2]])
    assert F.ctc_loss(logits, labels, *lengths) < 0
    assert F.ctc_loss(logits.log_softmax(2), labels, *lengths) > 0

    def dice(p, y):
        return 1 - 2 * (p * y).sum() / (p.sum() + y.sum())

    mask = torch.tensor([0.0, 1, 1])
    assert dice(torch.ones(3), 255 * mask) < 0 <= dice(torch.ones(3), mask)
    logits = torch.tensor([-5.0, 8, 9])
    assert dice(logits, mask) < 0 <= dice(logits.sigmoid(), mask)


def test_what_may_be_negative():
    x = torch.zeros(3)
    density = 1 / math.sqrt(2 * math.pi * 0.01)  # of N(0, 0.1²) at its mean
    loss = F.gaussian_nll_loss(x, x, torch.full((3,), 0.01), full=True)
    assert loss.item() == pytest.approx(-math.log(density))
    assert loss < 0
    y = torch.tensor([9.0])
    rate = y.log()
    poisson = nn.PoissonNLLLoss()(rate, y).item()
    assert poisson == pytest.approx(9 - 9 * math.log(9))
    full = nn.PoissonNLLLoss(full=True)(rate, y).item()
    assert full == pytest.approx(poisson + math.log(math.factorial(9)), abs=0.02)
    floor = nn.GaussianNLLLoss(eps=1e-3)(x, x, x).item()
    assert floor == pytest.approx(math.log(1e-3) / 2)


def test_bce_at_255_is_as_written():
    logit = torch.tensor([math.log(0.9 / 0.1)])
    written = -255 * math.log(0.9) + 254 * math.log(0.1)
    loss = F.binary_cross_entropy_with_logits(logit, torch.tensor([255.0]))
    assert loss.item() == pytest.approx(written, rel=1e-4)
