"""plot-reliability: the bars from a loop over the predictions."""

import pytest
import torch

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("evaluation/plot_reliability.py")


def test_each_bar_is_the_accuracy_of_its_bin(drawn):
    for ax, T in zip(drawn.axes, (1, 3), strict=True):
        heights, edges, _ = ax.patches[0].get_data()
        assert edges == pytest.approx([i / 10 for i in range(11)])
        sure, pred = (drawn.logits / T).softmax(1).max(1)
        for i in range(10):
            chosen = (sure > edges[i]) & (sure <= edges[i + 1])
            right = (pred == drawn.y)[chosen].float()
            expected = right.mean().item() if len(right) else 0
            assert heights[i] == pytest.approx(expected, abs=0.01)


def test_only_the_second_model_lies_on_the_diagonal(drawn):
    above = [ax.patches[0].get_data()[0][4:] for ax in drawn.axes]
    middle = torch.arange(0.45, 1, 0.1).numpy()
    assert (above[0] < middle - 0.05).all()
    assert abs(above[1] - middle).max() < 0.07
    for ax in drawn.axes:
        assert ax.lines[0].get_xydata().tolist() == [[0, 0], [1, 1]]
