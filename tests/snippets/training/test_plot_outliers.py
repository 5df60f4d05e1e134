"""plot-outliers: the lines by least squares, and by what a loss cannot improve."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("training/plot_outliers.py")


def lines(drawn):
    return {line.get_label(): line.get_ydata() for line in drawn.ax.lines[1:]}


def test_mse_is_the_line_of_least_squares(drawn):
    points = drawn.ax.lines[0].get_xydata()
    slope, start = np.polyfit(*points.T, 1)
    expected = [start, start + slope]
    np.testing.assert_allclose(lines(drawn)["MSELoss"], expected, atol=0.05)


def test_the_others_are_nearly_the_line_without_the_wrong_points(drawn):
    slope, start = np.polyfit(*drawn.ax.lines[0].get_xydata()[:-3].T, 1)
    for name in ("HuberLoss", "L1Loss"):
        found = lines(drawn)[name]
        np.testing.assert_allclose(found, [start, start + slope], atol=0.25)


def test_each_is_the_best_by_its_own_measure(drawn):
    x, y = drawn.ax.lines[0].get_xydata().T
    measures = {"MSELoss": np.square, "L1Loss": np.abs}
    measures["HuberLoss"] = lambda e: np.where(
        abs(e) < 0.3, e**2 / 2, 0.3 * (abs(e) - 0.15)
    )
    for name, measure in measures.items():
        score = {
            other: measure(start + (end - start) * x - y).mean()
            for other, (start, end) in lines(drawn).items()
        }
        assert score[name] == min(score.values())
