"""plot-class-counts: the bars, and what the sampler drew."""

import pytest
import torch

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("data/plot_class_counts.py")


def test_bars_are_the_counts_of_the_data_and_of_the_draws(drawn):
    data, draws = ([bar.get_height() for bar in c] for c in drawn.ax.containers[::1])
    assert data == [900, 90, 10]
    assert draws == torch.bincount(drawn.target[drawn.drawn]).tolist()
    assert sum(draws) == 1000
    assert all(280 < count < 390 for count in draws)  # 333 ± 4 standard deviations


def test_each_sample_weighs_one_over_its_class(drawn):
    assert drawn.weight[[0, 900, 990]].tolist() == pytest.approx([1 / 900, 1 / 90, 0.1])
    assert set(drawn.rare.tolist()) <= set(range(990, 1000))
    assert len(drawn.rare) > 280
