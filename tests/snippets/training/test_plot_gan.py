"""plot-gan: the histograms by NumPy, and what they should be."""

import math

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("training/plot_gan.py")


def histograms(ax):
    (real, edges, _), (made, same, _) = (patch.get_data() for patch in ax.patches)
    np.testing.assert_allclose(edges, np.linspace(-3, 11, 36), atol=1e-5)
    np.testing.assert_array_equal(edges, same)
    return real, made, (edges[1:] + edges[:-1]) / 2


def test_the_real_ones_are_those_of_a_normal_distribution(drawn):
    for ax in drawn.axes:
        real, _, x = histograms(ax)
        assert real.sum() == 4000
        expected = 4000 * 0.4 * np.exp(-((x - 4) ** 2) / 2) / math.sqrt(2 * math.pi)
        assert np.abs(real - expected).max() < 5 * math.sqrt(expected.max())


def test_the_generated_ones_come_to_lie_on_them(drawn):
    shares = []
    for ax in drawn.axes:
        real, made, _ = histograms(ax)
        shares.append(np.minimum(real, made).sum() / 4000)
    assert shares[0] < 0.05
    assert shares[2] > 0.75
    assert shares[0] < shares[1] < shares[2]


def test_the_last_one_by_numpy(drawn):
    _, made, _ = histograms(drawn.axes[2])
    expected, _ = np.histogram(drawn.made.numpy(), 35, (-3, 11))
    assert np.abs(made - expected).max() <= 2  # on the edge of a bin
    assert [ax.get_title() for ax in drawn.axes] == ["step 0", "step 150", "step 500"]
