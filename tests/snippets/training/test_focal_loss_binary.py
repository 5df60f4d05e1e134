"""focal-loss, yes-or-no labels: against a loop in float64."""

import math

import pytest

from tests.helpers import load_snippet

snippet = load_snippet("training/focal_loss_binary.py")


def test_it_is_the_loop():
    losses = []
    for row, wanted in zip(
        snippet.outputs.tolist(), snippet.labels.tolist(), strict=True
    ):
        for z, y in zip(row, wanted, strict=True):
            p = 1 / (1 + math.exp(-z if y else z))  # of the true answer
            losses.append(-0.5 * (1 - p) ** 2 * math.log(p))
    expected = sum(losses) / len(losses)
    assert snippet.loss.item() == pytest.approx(expected, rel=1e-5)


def test_the_output(capsys):
    load_snippet("training/focal_loss_binary.py")
    assert capsys.readouterr().out == f"{snippet.loss:.4f}\n"
