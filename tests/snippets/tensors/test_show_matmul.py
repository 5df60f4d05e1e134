"""show-matmul: the product by NumPy; what is coloured makes the number."""

import numpy as np
import pytest

from tests.helpers import load_snippet, tables


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_matmul.py")


def test_the_numbers_are_those_of_numpy(drawn):
    a, b, c = (np.array(tables(drawn.axes[name])[0][0], dtype=int) for name in "abc")
    assert (a.shape, b.shape) == ((2, 3), (3, 4))
    np.testing.assert_array_equal(c, np.dot(a, b))


def test_the_coloured_row_times_the_coloured_column_is_the_coloured_number(drawn):
    def coloured(name):
        ((texts, colours),) = tables(drawn.axes[name])
        return [
            (i, j, int(texts[i][j]))
            for i, row in enumerate(colours)
            for j, colour in enumerate(row)
            if colour != "none"
        ]

    ((row, column, number),) = coloured("c")
    left, above = coloured("a"), coloured("b")
    assert [(i, j) for i, j, _ in left] == [(row, n) for n in range(3)]
    assert [(i, j) for i, j, _ in above] == [(n, column) for n in range(3)]
    pairs = zip(left, above, strict=True)
    assert number == sum(one[2] * other[2] for one, other in pairs)


def test_a_is_left_of_c_and_b_above_it(drawn):
    places = {name: ax.get_position() for name, ax in drawn.axes.items()}
    assert places["a"].x1 < places["c"].x0
    assert places["b"].y0 > places["c"].y1
    assert {name: ax.get_title() for name, ax in drawn.axes.items()} == {
        name: name for name in "abc"
    }
