"""show-norms: by the axes of each mean, and by changing one value."""

import pytest

from tests.helpers import cells, load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("models/show_norms.py")


SHARED = {  # of (N, C, L), with the value at (0, 0, 0)
    "BatchNorm": lambda n, c, place: c == 0,
    "GroupNorm": lambda n, c, place: n == 0 and c < 2,
    "InstanceNorm": lambda n, c, place: n == 0 and c == 0,
    "LayerNorm": lambda n, c, place: n == 0 and place == 0,
}


def test_blue_are_the_values_of_one_mean(drawn):
    for ax, (name, shared) in zip(drawn.axes.flat, SHARED.items(), strict=True):
        assert ax.get_title() == name
        table = cells(ax)
        assert table.shape == (3, 12)
        for n in range(3):
            for column in range(12):
                blue = shared(n, *divmod(column, 3))
                assert table[n, column] == (2 if blue else 1)


@pytest.mark.parametrize("name", SHARED)
def test_a_change_of_another_value_changes_nothing(drawn, name):
    table = cells(drawn.axes.flat[list(SHARED).index(name)])

    def first(x):
        x = x.mT if name == "LayerNorm" else x
        return drawn.norms[name](x)[0, 0, 0].item()

    for n in range(3):
        for column in range(12):
            x = drawn.x.detach().clone()
            x.view(3, 12)[n, column] += 0.1
            changed = abs(first(x) - first(drawn.x.detach())) > 1e-9
            assert changed == (table[n, column] == 2)


def test_lines_between_the_channels(drawn):
    for ax in drawn.axes.flat:
        (lines,) = ax.collections
        assert [segment[0][0] for segment in lines.get_segments()] == [3, 6, 9]
        assert tuple(ax.images[0].get_extent()) == (0, 12, 3, 0)
        assert ax.images[0].get_clim() == (0, 2)
    assert drawn.axes[1, 0].get_xlabel() == "4 channels, 3 places in each"
    assert drawn.axes[1, 0].get_ylabel() == "sample"
