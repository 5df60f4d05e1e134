"""plot-learning-rates: the rates of the optimizer, by depth."""

import itertools

import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("models/plot_learning_rates.py")


def test_bars_are_the_rates_of_the_optimizer_halved_per_block(drawn):
    widths = [bar.get_width() for bar in drawn.bars]
    assert widths == [group["lr"] for group in drawn.optimizer.param_groups]
    assert widths[-1] == pytest.approx(1e-3)
    ratios = [b / a for a, b in itertools.pairwise(widths)]
    assert ratios == pytest.approx([2.0] * 5)


def test_every_parameter_is_in_one_group_and_labels_tell_the_rate(drawn):
    groups = drawn.optimizer.param_groups
    assert [len(group["params"]) for group in groups] == [2] * 6
    names = [label.get_text() for label in drawn.ax.get_yticklabels()]
    assert names == drawn.names == [*(f"block {i}" for i in range(5)), "head"]
    assert [t.get_text() for t in drawn.ax.texts][-1] == "1.0e-03"
