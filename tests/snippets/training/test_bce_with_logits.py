"""bce-with-logits: the loss against a float64 loop and scikit-learn; messages."""

import math

import pytest
import torch
from sklearn.metrics import log_loss
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/bce-with-logits"
ANSWER = recipes()["bce-with-logits"].answer


def by_hand(logits, target, pos_weight):
    """The mean over all labels, each by its own formula, in plain Python."""
    losses = []
    for row, wanted in zip(logits.tolist(), target.tolist(), strict=True):
        for z, y, w in zip(row, wanted, pos_weight, strict=True):
            p = 1 / (1 + math.exp(-z))
            losses.append(-w * y * math.log(p) - (1 - y) * math.log(1 - p))
    return sum(losses) / len(losses)


@pytest.mark.parametrize(
    "labels",
    [
        torch.tensor([[1, 0], [0, 1], [1, 1]]),
        torch.tensor([[True, False], [False, False], [True, True]]),
        torch.ones(3, 2, dtype=torch.uint8),  # a batch without negatives
        torch.tensor([[1], [0], [1]]),  # two classes, one logit
    ],
    ids=["int64", "bool", "only positives", "two classes"],
)
def test_the_answer_of_labels_as_files_give_them(labels):
    x, model = torch.randn(3, 8), nn.Linear(8, labels.shape[1])
    names = {"x": x, "model": model, "labels": labels}
    assert set(ANSWER.yours) == set(names)
    exec(ANSWER.text, names)
    logits = model(x).double()
    expected = by_hand(logits, labels, [1.0] * labels.shape[1])
    assert names["loss"].item() == pytest.approx(expected, rel=1e-5)
    assert torch.equal(names["pred"], logits.sigmoid() > 0.5)


def test_without_weights_it_is_the_log_loss():
    logits, target = torch.randn(50), torch.arange(50) % 2
    loss = F.binary_cross_entropy_with_logits(logits, target.float())
    expected = log_loss(target, logits.double().sigmoid())
    assert loss.item() == pytest.approx(expected, rel=1e-5)


def test_the_output_of_the_snippet(capsys):
    load_snippet("training/bce_with_logits.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "sigmoid, then BCELoss: gradient 0",
        "BCEWithLogitsLoss: gradient 1",
    ]


def test_two_sigmoids_set_a_floor():
    certain = torch.tensor([100.0, -100.0]).sigmoid()
    losses = F.binary_cross_entropy_with_logits(
        certain, torch.tensor([1.0, 0.0]), reduction="none"
    )
    assert [f"{loss:.2f}" for loss in losses] == ["0.31", "0.69"]
    assert losses.mean() > 0.5


def test_labels_other_than_0_and_1_are_not_noticed():
    loss = F.binary_cross_entropy_with_logits(torch.ones(1), torch.full((1,), 255.0))
    assert loss < 0


def test_unknown_labels():
    labels = torch.tensor([[1, math.nan], [0, 1]])
    known = ~labels.isnan()

    def gradient(target):
        logits = torch.ones(2, 2, requires_grad=True)
        loss = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
        return torch.autograd.grad(loss[known].mean(), logits)[0]

    assert gradient(labels)[0, 1].isnan()
    p = 1 / (1 + math.exp(-1))
    expected = torch.tensor([[p - 1, 0], [p, p - 1]]) / 3
    torch.testing.assert_close(gradient(labels.nan_to_num(0)), expected)


def test_pos_weight_of_masks():
    logits, target = torch.randn(2, 3, 4, 5), torch.rand(2, 3, 4, 5).round()
    weight = torch.tensor([1.0, 2.0, 3.0])
    loss = F.binary_cross_entropy_with_logits(
        logits, target, pos_weight=weight.view(3, 1, 1)
    )
    rows = (t.movedim(1, -1).reshape(-1, 3).double() for t in (logits, target))
    assert loss.item() == pytest.approx(by_hand(*rows, weight.tolist()), rel=1e-5)


N1, N2, Y = torch.randn(4, 1), torch.randn(4, 2), torch.ones(4)
P = torch.rand(4)


@pytest.mark.parametrize(
    ("start", "loss", "logits", "target"),
    [
        ("RuntimeError: all elements of input", nn.BCELoss(), 2 + P, Y),
        ("RuntimeError: all elements of input", nn.BCELoss(), P * math.nan, Y),
        ("RuntimeError: all elements of target", nn.BCELoss(), P, 2 * Y),
        ("RuntimeError: Found dtype", nn.BCELoss(), P, Y.long()),
        ("ValueError: Using a target", nn.BCELoss(), P[:, None], Y),
        ("ValueError: Target size", nn.BCEWithLogitsLoss(), N1, Y),
        ("RuntimeError: result type", nn.BCEWithLogitsLoss(), N1, Y[:, None].long()),
        (
            "NotImplementedError: Subtraction",
            nn.BCEWithLogitsLoss(),
            N1,
            Y[:, None].bool(),
        ),
        (
            "RuntimeError: The size of tensor a",
            nn.BCEWithLogitsLoss(pos_weight=torch.ones(3)),
            N2,
            torch.ones(4, 2),
        ),
    ],
)
def test_messages(start, loss, logits, target):
    with raises_as_documented(PAGE, start):
        loss(logits, target)


def test_pos_weight_is_a_tensor():
    with raises_as_documented(PAGE, "TypeError: cannot assign"):
        nn.BCEWithLogitsLoss(pos_weight=5.0)
