"""show-receptive-field: the steps, worked back layer by layer."""

import pytest

from tests.helpers import cells, load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("models/show_receptive_field.py")


def test_blue_are_the_steps_that_the_last_one_reads(drawn):
    table = cells(drawn.ax)
    assert table.shape == (4, 18)
    needed = {17}
    for row, dilation in zip(table, (4, 2, 1, None), strict=True):  # from above
        assert {step for step in range(18) if row[step] == 2} == needed
        if dilation:
            needed = {step - dilation * k for step in needed for k in range(3)}
            needed = {step for step in needed if step >= 0}


def test_the_receptive_field_of_the_page(drawn):
    inputs = cells(drawn.ax)[-1]
    assert (inputs == 2).sum() == 1 + 2 * (1 + 2 + 4)
    assert inputs.tolist().index(2) == drawn.ax.get_xticks()[1]


def test_the_names_are_beside_their_rows(drawn):
    labels = [label.get_text() for label in drawn.ax.get_yticklabels()]
    assert labels == ["input", "dilation 1", "dilation 2", "dilation 4"]
    assert drawn.ax.get_yticks().tolist() == [0, 1, 2, 3]
    assert tuple(drawn.ax.images[0].get_extent()) == (-0.5, 17.5, -0.5, 3.5)
    assert drawn.ax.get_ylim() == (-0.5, 3.5)  # the input is at the bottom
