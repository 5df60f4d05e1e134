"""show-indexing: each title is an index, which NumPy reads."""

import numpy as np
import pytest

from tests.helpers import cells, load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_indexing.py")


def test_blue_is_what_numpy_takes_by_the_title(drawn):
    numbers = np.arange(20).reshape(4, 5)
    for ax in drawn.axes:
        table = cells(ax)
        assert table.shape == (4, 5)
        taken = eval(ax.get_title(), {"x": numbers})
        assert set(numbers[table == 2]) == set(taken.flat)
        assert (table[~np.isin(numbers, taken)] == 1).all()
        assert ax.images[0].get_clim() == (0, 2)


def test_two_lists_take_pairs(drawn):
    table = cells(drawn.axes[3])
    assert np.argwhere(table == 2).tolist() == [[0, 1], [2, 3]]
