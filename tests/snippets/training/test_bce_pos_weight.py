"""bce-with-logits, pos_weight: against a loop, and what a batch would give."""

import math

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet

snippet = load_snippet("training/bce_pos_weight.py")


def test_the_loss_is_that_of_a_loop():
    logits = torch.randn(100, 2, dtype=torch.float64)
    losses = []
    for row, wanted in zip(logits.tolist(), snippet.train_labels.tolist(), strict=True):
        for z, y, weight in zip(row, wanted, [80 / 20, 99 / 1], strict=True):
            p = 1 / (1 + math.exp(-z if y else z))  # of the true answer
            losses.append(-(weight if y else 1) * math.log(p))
    loss = snippet.loss_fn(logits, snippet.train_labels.double())
    assert loss.item() == pytest.approx(sum(losses) / len(losses), rel=1e-6)


def test_both_sides_weigh_alike():
    labels = snippet.train_labels
    assert labels.sum(0).tolist() == [20, 1]
    weighted = (snippet.pos_weight * labels).sum(0)
    assert torch.equal(weighted, (1.0 - labels).sum(0))


def test_a_label_without_positives_does_not_give_nan():
    z, y = torch.zeros(4, 1), torch.zeros(4, 1)
    endless = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([math.inf]))
    assert endless(z, y).isnan()
    finite = nn.BCEWithLogitsLoss(pos_weight=4 / y.sum(0).clamp(min=1))
    assert finite(z, y).item() == pytest.approx(math.log(2))


def test_weights_of_a_batch_of_positives_hide_every_error():
    labels = torch.ones(4, 1)
    pos_weight = (4 - labels.sum(0)) / labels.sum(0).clamp(min=1)
    assert pos_weight == 0
    loss_fn = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
    assert loss_fn(torch.full((4, 1), -9.0), labels) == 0
