"""plot-precision-recall: the curve and its best threshold, against scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("evaluation/plot_precision_recall.py")


def test_the_curve_is_that_of_scikit_learn(drawn):
    precision, recall, threshold = metrics.precision_recall_curve(
        drawn.positive, drawn.score
    )
    np.testing.assert_allclose(drawn.precision, precision[-2::-1], rtol=1e-6)
    np.testing.assert_allclose(drawn.recall, recall[-2::-1], rtol=1e-6)
    np.testing.assert_allclose(drawn.threshold, threshold[::-1], rtol=1e-6)
    np.testing.assert_array_equal(drawn.ax.lines[0].get_xdata(), drawn.recall)
    np.testing.assert_array_equal(drawn.ax.lines[0].get_ydata(), drawn.precision)


def test_no_threshold_has_a_better_f1(drawn):
    scores = [
        metrics.f1_score(drawn.positive, drawn.score >= value)
        for value in drawn.threshold
    ]
    assert drawn.f1[drawn.best].item() == pytest.approx(max(scores))
    assert drawn.text.endswith(f"F1 {max(scores):.2f}")
    assert drawn.ax.lines[1].get_xdata() == drawn.recall[drawn.best]
    assert (drawn.positive == 1).sum() == 60
    assert ((drawn.score > 0) & (drawn.score < 1)).all()
    assert [note.get_text() for note in drawn.ax.texts] == [drawn.text]
