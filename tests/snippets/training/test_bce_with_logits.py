"""bce-with-logits: the loss against a float64 loop and scikit-learn; messages."""

import math

import pytest
import torch
from sklearn.metrics import log_loss
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/bce-with-logits"
snippet = load_snippet("training/bce_with_logits.py")


def by_hand(logits, target, pos_weight):
    """The mean over all labels, each by its own formula, in plain Python."""
    losses = []
    for row, wanted in zip(logits.tolist(), target.tolist(), strict=True):
        for z, y, w in zip(row, wanted, pos_weight, strict=True):
            p = 1 / (1 + math.exp(-z))
            losses.append(-w * y * math.log(p) - (1 - y) * math.log(1 - p))
    return sum(losses) / len(losses)


def test_the_weighted_loss_is_that_of_a_loop():
    logits = snippet.model(snippet.x).double()
    expected = by_hand(logits, snippet.target, [2.0, 5.0])
    loss = snippet.loss_fn(snippet.model(snippet.x), snippet.target)
    assert loss.item() == pytest.approx(expected, rel=1e-5)
    assert torch.equal(snippet.pred, logits.sigmoid() > 0.5)


def test_pos_weight_is_negatives_over_positives():
    assert snippet.pos_weight.tolist() == [4 / 2, 5 / 1]
    assert snippet.target.dtype == torch.float32
    assert snippet.labels.sum(0).tolist() == [2, 1]
    weighted = (snippet.pos_weight * snippet.target).sum(0)
    assert torch.equal(weighted, (1 - snippet.target).sum(0))  # both sides alike


def test_without_weights_it_is_the_log_loss():
    logits, target = torch.randn(50), torch.arange(50) % 2
    loss = F.binary_cross_entropy_with_logits(logits, target.float())
    expected = log_loss(target, logits.double().sigmoid())
    assert loss.item() == pytest.approx(expected, rel=1e-5)


def test_the_output_of_the_snippet(capsys):
    load_snippet("training/bce_with_logits.py")
    lines = capsys.readouterr().out.splitlines()
    first = snippet.loss_fn(snippet.model(snippet.x), snippet.target)
    assert lines == [
        f"pos_weight [2.0, 5.0], loss {first:.2f}",
        "sigmoid, then BCELoss: gradient 0",
        "BCEWithLogitsLoss: gradient 1",
    ]


def test_a_label_without_positives_does_not_give_nan():
    z, y = torch.zeros(4, 1), torch.zeros(4, 1)
    endless = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([math.inf]))
    assert endless(z, y).isnan()
    finite = nn.BCEWithLogitsLoss(pos_weight=(4 - y.sum(0).clamp(min=1)))
    assert finite(z, y).item() == pytest.approx(math.log(2))


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
