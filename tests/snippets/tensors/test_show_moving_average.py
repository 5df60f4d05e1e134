"""show-moving-average: both curves, by a loop in NumPy."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_moving_average.py")


def test_the_curves_are_means_of_windows(drawn):
    x, centred, causal = (line.get_ydata() for line in drawn.ax.lines)
    assert len(x) == 80
    for t in range(80):
        first = [x[0]] * max(14 - t, 0)  # repeated before the start
        past = [*first, *x[max(t - 14, 0) : t + 1]]
        assert causal[t] == pytest.approx(np.mean(past), abs=1e-5)
        around = x[max(t - 7, 0) : t + 8]
        assert centred[t] == pytest.approx(np.mean(around), abs=1e-5)


def test_the_causal_curve_passes_the_middle_later(drawn):
    _, centred, causal = (line.get_ydata() > 0.5 for line in drawn.ax.lines)
    assert abs(np.argmax(centred) - 40) <= 3
    assert np.argmax(causal) - np.argmax(centred) == 7


def test_the_labels(drawn):
    labels = [line.get_label() for line in drawn.ax.lines]
    assert labels == ["x", "centred", "causal"]
    assert drawn.ax.get_xlabel() == "t"
