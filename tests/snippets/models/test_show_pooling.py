"""show-pooling: the windows, by the formula of the page."""

import math

import pytest

from tests.helpers import cells, load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("models/show_pooling.py")


def test_blue_are_the_windows_of_the_formula(drawn):
    for ax, n in zip(drawn.axes, (6, 7, 8), strict=True):
        assert ax.get_title() == f"{n} → 3"
        table = cells(ax)
        assert table.shape == (3, n)
        for i, row in enumerate(table):
            start, end = math.floor(i * n / 3), math.ceil((i + 1) * n / 3)
            expected = [2 if start <= k < end else 1 for k in range(n)]
            assert row.tolist() == expected


def test_windows_overlap_only_where_3_does_not_divide(drawn):
    shared = [((cells(ax) == 2).sum(0) > 1).sum() for ax in drawn.axes]
    assert shared == [0, 2, 2]


def test_the_cells_are_at_their_numbers(drawn):
    for ax, n in zip(drawn.axes, (6, 7, 8), strict=True):
        assert tuple(ax.images[0].get_extent()) == (-0.5, n - 0.5, 2.5, -0.5)
        assert ax.get_xticks().tolist() == [0, n - 1]
        assert ax.images[0].get_clim() == (0, 2)
    labels = drawn.axes[0].get_xlabel(), drawn.axes[0].get_ylabel()
    assert labels == ("input", "output")
