"""show-dims: numbers of one colour add up to the total of that colour."""

from itertools import chain

import pytest

from tests.helpers import load_snippet, tables


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_dims.py")


@pytest.mark.parametrize("dim", [0, 1])
def test_each_total_is_the_sum_of_its_colour(drawn, dim):
    (x, colours), (total, own) = tables(drawn.axes[dim])
    assert x == [["1", "2", "3"], ["4", "5", "6"]]
    sums = {}
    for text, colour in zip(chain(*x), chain(*colours), strict=True):
        sums[colour] = sums.get(colour, 0) + int(text)
    totals = zip(chain(*own), chain(*total), strict=True)
    assert sums == {colour: int(text) for colour, text in totals}


def test_dim_0_runs_down_and_dim_1_to_the_right(drawn):
    (_, down), (below, _) = tables(drawn.axes[0])
    assert down[0] == down[1]
    assert len(set(down[0])) == 3
    assert below == [["5", "7", "9"]]
    (_, right), (beside, _) = tables(drawn.axes[1])
    assert all(len(set(row)) == 1 for row in right)
    assert right[0] != right[1]
    assert beside == [["6"], ["15"]]


def test_the_totals_are_beside_what_they_add(drawn):
    for dim, ax in enumerate(drawn.axes):
        assert ax.get_title() == f"x.sum(dim={dim})"
        table, total = (mesh.get_coordinates() for mesh in ax.collections)
        along, across = (1, 0) if dim == 0 else (0, 1)  # y, x
        assert total[..., along].min() > table[..., along].max()
        ends = (total[..., across].min(), total[..., across].max())
        assert ends == (table[..., across].min(), table[..., across].max())
