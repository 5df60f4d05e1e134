"""plot-init: the three curves, by the same network in NumPy."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("models/plot_init.py")


def spread(variance, bias=0.0):
    """Layer by layer, with other random numbers; bias: the bound of a uniform one."""
    rng = np.random.default_rng(1)
    h, found = rng.normal(size=(256, 64)), []
    for _ in range(20):
        weight = rng.normal(size=(64, 64)) * variance**0.5
        h = np.maximum(h @ weight + rng.uniform(-bias, bias, 64), 0)
        found.append(h.std(0).mean())
    return found


def test_each_curve_is_that_of_its_variance(drawn):
    curves = {
        "kaiming_normal_": spread(2 / 64),
        "xavier_normal_": spread(2 / (64 + 64)),
        "default": spread(1 / (3 * 64), bias=1 / 8),
    }
    names = [text.get_text() for text in drawn.ax.texts]
    assert names == list(curves)
    for line, expected in zip(drawn.ax.lines, curves.values(), strict=True):
        assert line.get_xdata().tolist() == list(range(1, 21))
        ratio = np.log10(line.get_ydata()) - np.log10(expected)
        assert np.abs(ratio).max() < 1, "more than tenfold"


def test_each_name_is_at_the_end_of_its_curve(drawn):
    for line, text in zip(drawn.ax.lines, drawn.ax.texts, strict=True):
        assert text.get_position() == (20.4, line.get_ydata()[-1])
    ends = [line.get_ydata()[-1] for line in drawn.ax.lines]
    assert ends[0] > 100 * ends[1] > 10_000 * ends[2]


def test_the_axes(drawn):
    assert drawn.ax.get_yscale() == "log"
    assert drawn.ax.get_xlabel() == "layer"
    assert drawn.ax.get_ylabel() == "std over the batch"
