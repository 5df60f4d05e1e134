"""plot-confusion-matrix: the counts and names that are drawn."""

import pytest
import torch

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("evaluation/plot_confusion_matrix.py")


def test_cells_hold_the_counts_and_colours_the_share_of_each_row(drawn):
    cells = [int(text.get_text()) for text in drawn.ax.texts]
    assert cells == drawn.cm.flatten().tolist()
    assert [t.get_position() for t in drawn.ax.texts][1] == (1, 0)  # column, row
    shares = torch.from_numpy(drawn.ax.images[0].get_array().data)
    torch.testing.assert_close(shares.sum(1), torch.ones(3))
    assert shares[0, 0].item() == pytest.approx(38 / 50)


def test_rows_are_true_and_dark_cells_have_white_text(drawn):
    assert (drawn.ax.get_ylabel(), drawn.ax.get_xlabel()) == ("true", "predicted")
    names = [label.get_text() for label in drawn.ax.get_xticklabels()]
    assert names == [t.get_text() for t in drawn.ax.get_yticklabels()] == drawn.names
    colors = [text.get_color() for text in drawn.ax.texts]
    assert [i for i, c in enumerate(colors) if c == "white"] == [0, 4, 8]
