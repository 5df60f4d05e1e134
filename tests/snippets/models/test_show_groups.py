"""show-groups: the channels of a group, and the weights, by hand."""

import pytest

from tests.helpers import cells, load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("models/show_groups.py")


def test_an_output_reads_the_channels_of_its_group(drawn):
    for ax, groups in zip(drawn.axes, (1, 2, 8), strict=True):
        size = 8 // groups
        table = cells(ax)
        assert table.shape == (8, 8)
        for output in range(8):
            for channel in range(8):
                same = output // size == channel // size
                assert table[output, channel] == (2 if same else 1)
        assert ax.get_title() == f"groups={groups}\n{8 * size * 9} weights"


def test_the_cells_are_at_their_numbers(drawn):
    for ax in drawn.axes:
        assert tuple(ax.images[0].get_extent()) == (-0.5, 7.5, 7.5, -0.5)
        assert ax.get_xticks().tolist() == [0, 7]
        assert ax.images[0].get_clim() == (0, 2)
    labels = drawn.axes[0].get_xlabel(), drawn.axes[0].get_ylabel()
    assert labels == ("input channel", "output")
