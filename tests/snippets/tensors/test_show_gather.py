"""show-gather: the tables and their colours, by a loop and NumPy."""

import numpy as np
import pytest

from tests.helpers import load_snippet, tables


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_gather.py")


def test_the_numbers_are_what_numpy_takes(drawn):
    (x, _), (index, _), (picked, _) = (tables(ax)[0] for ax in drawn.axes)
    numbers, places = np.array(x, dtype=int), np.array(index, dtype=int)
    np.testing.assert_array_equal(numbers, np.arange(12).reshape(3, 4))
    expected = np.take_along_axis(numbers, places, axis=1)
    np.testing.assert_array_equal(np.array(picked, dtype=int), expected)


def test_a_picked_cell_has_the_colour_of_its_row_in_the_result(drawn):
    (x, colours), (index, no_colours), (picked, own) = (
        tables(ax)[0] for ax in drawn.axes
    )
    assert {colour for row in no_colours for colour in row} == {"none"}
    assert len({row[0] for row in own}) == 3
    for b in range(3):
        assert set(own[b]) == {own[b][0]}
        picks = {int(text) for text in index[b]}
        for column in range(4):
            expected = own[b][0] if column in picks else "none"
            assert colours[b][column] == expected
        assert [x[b][int(text)] for text in index[b]] == picked[b]


def test_the_titles(drawn):
    titles = [ax.get_title() for ax in drawn.axes]
    assert titles == ["x", "idx", "x.gather(1, idx)"]
