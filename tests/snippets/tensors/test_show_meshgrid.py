"""show-meshgrid: the tables, against NumPy and the places themselves."""

from itertools import chain

import numpy as np
import pytest

from tests.helpers import load_snippet, tables


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_meshgrid.py")


def test_the_grids_are_those_of_numpy(drawn):
    rows, columns, _ = (tables(ax)[0][0] for ax in drawn.axes)
    expected = np.mgrid[:2, :3]
    np.testing.assert_array_equal(np.array([rows, columns], dtype=int), expected)


def test_a_pair_is_the_place_of_its_cell(drawn):
    ((pairs, _),) = tables(drawn.axes[2])
    assert pairs == [[f"{x},{y}" for x in range(3)] for y in range(2)]


def test_equal_numbers_have_one_colour(drawn):
    for ax in drawn.axes[:2]:
        ((texts, colours),) = tables(ax)
        found = set(zip(chain(*texts), chain(*colours), strict=True))
        assert len(found) == len({text for text, _ in found})
        assert len(found) == len({colour for _, colour in found})


def test_the_titles(drawn):
    titles = [ax.get_title() for ax in drawn.axes]
    assert titles == ["rows", "columns", "pairs (x, y)"]
