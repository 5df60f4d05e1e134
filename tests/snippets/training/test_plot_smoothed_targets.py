"""plot-smoothed-targets: the bars are the targets that the loss uses."""

import pytest
import torch
from torch.nn import functional as F

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("training/plot_smoothed_targets.py")


def test_the_loss_with_the_drawn_target_is_that_of_label_smoothing(drawn):
    torch.manual_seed(0)
    logits = torch.randn(1, 10)
    expected = F.cross_entropy(logits, torch.tensor([3]), label_smoothing=0.1)
    torch.testing.assert_close(F.cross_entropy(logits, drawn.soft[None]), expected)


def test_bars_and_labels_say_the_same(drawn):
    hard, soft = drawn.ax.containers
    heights = torch.tensor([bar.get_height() for bar in soft], dtype=torch.float32)
    torch.testing.assert_close(heights, drawn.soft)
    assert [bar.get_height() for bar in hard] == drawn.hard.tolist()
    assert [t.get_text() for t in drawn.ax.texts] == ["0.91", "0.01 each"]
    assert [b.get_x() for b in soft] == pytest.approx(list(range(10)))
