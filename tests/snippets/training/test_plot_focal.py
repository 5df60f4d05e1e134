"""plot-focal: each curve by the formula, and the recipe's loss."""

import math

import pytest
import torch

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("training/plot_focal.py")


def curves(drawn):
    lines = zip((0, 1, 2, 5), drawn.ax.lines, strict=True)
    return {gamma: line.get_xydata() for gamma, line in lines}


def test_each_point_by_the_formula(drawn):
    for gamma, points in curves(drawn).items():
        for p, loss in points[:-1]:
            expected = -((1 - p) ** gamma) * math.log(p)
            assert loss == pytest.approx(expected, rel=1e-3, abs=1e-6)
        assert points[-1].tolist() == [1, 0]


def test_the_recipe_gives_the_same(drawn):
    recipe = load_snippet("training/focal_loss.py")
    for gamma, points in curves(drawn).items():
        for p, loss in points[4:-1:20]:
            logits = torch.tensor([[p, 1 - p]]).log()
            found = recipe.focal_loss(logits, torch.tensor([0]), gamma=gamma)
            assert found.item() == pytest.approx(loss, rel=1e-3, abs=1e-6)


def test_the_legend(drawn):
    labels = [line.get_label() for line in drawn.ax.lines]
    assert labels[0] == "gamma=0 (cross entropy)"
    assert labels[1:] == ["gamma=1", "gamma=2", "gamma=5"]
