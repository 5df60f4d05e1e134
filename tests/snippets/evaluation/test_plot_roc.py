"""plot-roc: each threshold counted by hand; the area is the recipe's."""

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("evaluation/plot_roc.py")


def point(drawn, threshold):
    """Which share of the negatives, and of the positives, scores that or more."""
    pairs = list(zip(drawn.score.tolist(), drawn.target.tolist(), strict=True))
    of_class = ([s >= threshold for s, t in pairs if t == k] for k in (0, 1))
    return [sum(called) / len(called) for called in of_class]


def test_every_threshold_is_on_the_curve(drawn):
    line = drawn.ax.lines[0].get_xydata()
    order = [torch.inf, *sorted(drawn.score.tolist(), reverse=True)]
    by_hand = np.array([point(drawn, threshold) for threshold in order])
    along = line.sum(1)  # it grows with every point
    assert (np.diff(along) > 0).all()
    x = np.interp(by_hand.sum(1), along, line[:, 0])
    np.testing.assert_allclose(x, by_hand[:, 0], atol=1e-12)
    assert (by_hand[0].tolist(), by_hand[-1].tolist()) == ([0, 0], [1, 1])


def test_the_shaded_area_is_the_share_of_pairs_in_order(drawn):
    recipe = load_snippet("evaluation/roc_auc_torch.py").roc_auc
    (shade,) = drawn.ax.collections
    x, y = shade.get_paths()[0].vertices.T
    area = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
    assert area == pytest.approx(recipe(drawn.score, drawn.target).item())
    negative, positive = (drawn.score[drawn.target == k] for k in (0, 1))
    in_order = (positive[:, None] > negative).double().mean().item()
    assert area == pytest.approx(in_order)
    assert f"AUC {in_order:.2f}" in [text.get_text() for text in drawn.ax.texts]


def test_the_dot_is_what_predicted_classes_give(drawn):
    _, chance, dot = (line.get_xydata() for line in drawn.ax.lines)
    np.testing.assert_allclose(dot, [point(drawn, 0.5)], rtol=1e-6)
    assert not (drawn.score == 0.5).any()  # so > and >= are the same
    assert chance.tolist() == [[0, 0], [1, 1]]
    axis = drawn.ax.get_xlabel(), drawn.ax.get_ylabel()
    assert axis == ("false positive rate", "true positive rate (recall)")


def test_each_label_is_below_its_line(drawn):
    area, chance, dot = (text.get_position() for text in drawn.ax.texts)
    names = [text.get_text() for text in drawn.ax.texts[1:]]
    assert names == ["chance", "score > 0.5"]
    assert 0.05 < chance[0] - chance[1] < 0.15  # beside the diagonal, not on it
    assert area[1] < area[0] - 0.2
    x, y = drawn.ax.lines[2].get_xydata()[0]
    assert 0.02 < dot[0] - x < 0.06
    assert 0.01 < y - dot[1] < 0.05
