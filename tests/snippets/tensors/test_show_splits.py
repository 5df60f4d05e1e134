"""show-splits: the lengths of the page, and NumPy's array_split."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_splits.py")


LENGTHS = {
    "split(4)": [4, 4, 2],
    "split([5, 3, 2])": [5, 3, 2],
    "chunk(4)": [3, 3, 3, 1],
    "tensor_split(4)": [len(piece) for piece in np.array_split(np.arange(10), 4)],
}


@pytest.fixture
def rows(drawn):
    """The colours of the ten elements, of each row."""
    drawn_cells = drawn.ax.images[0].get_array().data
    assert drawn_cells.shape == (4 * 8, 10 * 12)
    return drawn_cells[4::8, 6::12].astype(int).tolist()


def test_each_piece_has_a_colour_of_its_own(rows):
    for row, lengths in zip(rows, LENGTHS.values(), strict=True):
        expected = [i for i, n in enumerate(lengths, 1) for _ in range(n)]
        assert row == expected


def test_the_names_are_beside_the_rows(drawn):
    labels = [label.get_text() for label in drawn.ax.get_yticklabels()]
    assert labels == list(LENGTHS)
    for i, tick in enumerate(drawn.ax.get_yticks()):
        assert i < tick < i + 1
    assert tuple(drawn.ax.images[0].get_extent()) == (0, 10, 4, 0)
