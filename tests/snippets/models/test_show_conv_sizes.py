"""show-conv-sizes: the pixels that an output reads, by the formula."""

import pytest

from tests.helpers import cells, load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("models/show_conv_sizes.py")


SETTINGS = {
    "stride=1": (1, 0, 1),
    "stride=2": (2, 0, 1),
    "padding=1": (1, 1, 1),
    "dilation=2": (1, 0, 2),
}


def test_blue_is_what_an_output_reads(drawn):
    for ax, (name, setting) in zip(drawn.axes, SETTINGS.items(), strict=True):
        stride, padding, dilation = setting
        n = (7 + 2 * padding - dilation * 2 - 1) // stride + 1
        assert ax.get_title() == f"{name}\n7 → {n}"
        table = cells(ax)
        assert table.shape == (n, 7)
        for output, row in enumerate(table):
            first = output * stride - padding
            reads = {first + dilation * k for k in range(3)} & set(range(7))
            assert {pixel for pixel in range(7) if row[pixel] == 2} == reads
            assert {row[pixel] for pixel in set(range(7)) - reads} <= {1}


def test_the_cells_are_at_their_numbers(drawn):
    for ax in drawn.axes:
        n = len(cells(ax))
        assert tuple(ax.images[0].get_extent()) == (-0.5, 6.5, n - 0.5, -0.5)
        assert ax.get_ylim() == (6.5, -0.5)
        assert ax.get_xticks().tolist() == [0, 6]
        assert ax.images[0].get_clim() == (0, 2)
    assert drawn.axes[0].get_xlabel() == "pixel"
    assert drawn.axes[0].get_ylabel() == "output"
