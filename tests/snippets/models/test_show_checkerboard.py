"""show-checkerboard: each panel, by loops in NumPy."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("models/show_checkerboard.py")


def transposed(x, kernel):
    """Each pixel is added to kernel x kernel places, 2 further for each pixel."""
    out = np.zeros((2 * len(x) + 8, 2 * len(x) + 8))
    for i, j in np.ndindex(x.shape):
        out[2 * i : 2 * i + kernel, 2 * j : 2 * j + kernel] += x[i, j]
    end = 2 * (len(x) - 1) - 2 + kernel  # padding 1
    return out[1 : end + 1, 1 : end + 1]


def doubled(x):
    """Bilinear: a new pixel lies a quarter of a pixel beside an old one."""
    places = np.clip(np.arange(2 * len(x)) / 2 - 0.25, 0, len(x) - 1)
    weights = np.maximum(1 - np.abs(places[:, None] - np.arange(len(x))), 0)
    return weights @ x @ weights.T


def test_each_panel_by_hand(drawn):
    x, three, four, smooth = (ax.images[0].get_array().data for ax in drawn.axes)
    ramp = np.linspace(0.5, 1, 6)
    np.testing.assert_allclose(x, np.outer(ramp, ramp), rtol=1e-5)
    for panel, kernel in ((three, 3), (four, 4)):
        np.testing.assert_allclose(panel, transposed(x, kernel)[1:-1, 1:-1], rtol=1e-5)
    up = doubled(x)
    sums = np.lib.stride_tricks.sliding_window_view(up, (3, 3)).sum((2, 3))
    np.testing.assert_allclose(smooth, sums[1:-1, 1:-1], rtol=1e-5)


def test_only_kernel_3_goes_up_and_down(drawn):
    falls = {
        ax.get_title(): (np.diff(ax.images[0].get_array().data, axis=1) < -1e-6).any()
        for ax in drawn.axes
    }
    assert falls == {
        "input": False,
        "kernel 3": True,
        "kernel 4": False,
        "Upsample": False,
    }


def test_black_is_zero(drawn):
    assert {ax.images[0].get_clim()[0] for ax in drawn.axes} == {0}
