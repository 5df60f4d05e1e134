"""plot-schedules: both curves worked by hand."""

import math

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("training/plot_schedules.py")


def curve(ax):
    """The rate of each step; the patch is one level per step."""
    (stairs,) = ax.patches
    rates, edges, _ = stairs.get_data()
    assert edges.tolist() == list(range(len(rates) + 1))
    return rates


def one_cycle(step, total=200, top=0.1):
    """A cosine up in 30 % of the steps, then one down to top / 250,000."""
    peak = 0.3 * total - 1
    if step <= peak:
        low, share = top / 25, 1 - step / peak
    else:
        low, share = top / 25 / 1e4, (step - peak) / (total - 1 - peak)
    return low + (top - low) * (1 + math.cos(math.pi * share)) / 2


def test_multistep_halves_the_rate_at_each_milestone(drawn):
    ax = drawn.axes[0]
    halved = [0.1] * 5 + [0.05] * 3 + [0.025] * 2
    np.testing.assert_allclose(curve(ax), halved)
    assert (ax.get_title(), ax.get_xlabel()) == ("MultiStepLR", "epoch")
    assert ax.get_ylabel() == "learning rate"
    assert ax.get_xticks().tolist() == [0, 5, 8, 10]


def test_one_cycle_rises_in_the_first_30_percent(drawn):
    ax = drawn.axes[1]
    rates = curve(ax)
    np.testing.assert_allclose(rates, [one_cycle(i) for i in range(200)])
    assert np.argmax(rates) + 1 == ax.get_xticks()[1] == 60
    assert (ax.get_title(), ax.get_xlabel()) == ("OneCycleLR", "batch")
    bottom, top = ax.get_ylim()
    assert (bottom, top) == drawn.axes[0].get_ylim()
    assert bottom == 0
    assert top >= 0.1
