"""show-index-add: the sums by a loop; each colour is one group."""

import pytest

from tests.helpers import load_snippet, tables


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_index_add.py")


def test_each_row_of_total_is_the_sum_of_the_rows_of_its_colour(drawn):
    (group, at), (x, of_x), (total, of_total) = (tables(ax)[0] for ax in drawn.axes)
    assert [row[0] for row in at] == [row[0] for row in of_x]
    assert len({row[0] for row in of_total}) == 4
    for g in range(4):
        (colour,) = set(of_total[g])
        rows = [n for n in range(5) if of_x[n][0] == colour]
        assert rows == [n for n in range(5) if group[n] == [str(g)]]
        sums = [sum(int(x[n][d]) for n in rows) for d in range(2)]
        assert [int(text) for text in total[g]] == sums


def test_the_group_without_a_row_has_no_colour(drawn):
    ((total, colours),) = tables(drawn.axes[2])
    assert total[3] == ["0", "0"]
    assert [row[0] == "none" for row in colours] == [False] * 3 + [True]


def test_the_titles(drawn):
    assert [ax.get_title() for ax in drawn.axes] == ["group", "x", "total"]
