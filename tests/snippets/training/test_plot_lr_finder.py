"""plot-lr-finder: the average by hand; the lowest and the mark left of it."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("training/plot_lr_finder.py")


def test_the_smooth_line_is_the_mean_of_nine(drawn):
    raw, smooth = (line.get_xydata() for line in drawn.ax.lines[:2])
    assert len(raw) == 100
    np.testing.assert_allclose(raw[:, 0], np.geomspace(1e-5, 1, 100), rtol=1e-3)
    for i, (lr, loss) in enumerate(smooth):
        assert lr == raw[i + 4, 0]
        assert loss == pytest.approx(raw[i : i + 9, 1].mean(), rel=1e-4)


def test_the_marks(drawn):
    _, smooth, lowest, begin = (line.get_xydata() for line in drawn.ax.lines)
    lr, loss = min(smooth.tolist(), key=lambda point: point[1])
    assert lowest[0, 0] == lr
    assert begin[0, 0] == pytest.approx(lr / 10)
    assert loss < smooth[0, 1] < smooth[-1, 1], "it falls, then it explodes"
    assert [text.get_text() for text in drawn.ax.texts] == ["lowest", "begin here"]


def test_it_begins_at_chance(drawn):
    first = drawn.ax.lines[0].get_ydata()[:20].mean()
    assert first == pytest.approx(np.log(3), abs=0.1)
