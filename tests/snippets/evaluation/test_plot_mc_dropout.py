"""plot-mc-dropout: the band by passes drawn anew; narrow at the points."""

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("evaluation/plot_mc_dropout.py")


def band(drawn):
    vertices = drawn.ax.collections[0].get_paths()[0].vertices
    grid = drawn.ax.lines[0].get_xdata()
    at = [vertices[np.isclose(vertices[:, 0], x), 1] for x in grid]
    return grid, np.array([ys.min() for ys in at]), np.array([ys.max() for ys in at])


def test_the_band_is_that_of_other_passes(drawn):
    grid, low, high = band(drawn)
    keep = torch.bernoulli(torch.full((4000, 1, 64), 0.8)) / 0.8  # by hand
    with torch.no_grad():
        h = drawn.net[:4](torch.tensor(grid)[:, None])
        passes = (h * keep) @ drawn.net[5].weight.T + drawn.net[5].bias
    mean, std = passes[..., 0].mean(0).numpy(), passes[..., 0].std(0).numpy()
    np.testing.assert_allclose((low + high) / 2, mean, atol=0.35)
    np.testing.assert_allclose(high - low, 4 * std, rtol=0.4)
    line = drawn.ax.lines[0].get_ydata()
    np.testing.assert_allclose((low + high) / 2, line, atol=1e-4)


def test_it_is_narrow_at_the_points(drawn):
    grid, low, high = band(drawn)
    points = drawn.ax.lines[1].get_xdata()
    near = np.abs(grid[:, None] - points.reshape(1, -1)).min(1) < 0.1
    width = high - low
    assert width[0] > 3 * width[near].mean()
    assert width[-1] > width[near].mean()
