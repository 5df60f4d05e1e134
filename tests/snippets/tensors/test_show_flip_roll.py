"""show-flip-roll: each panel, against NumPy."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_flip_roll.py")


def test_each_panel_is_that_of_numpy(drawn):
    x = drawn.x.numpy()
    expected = {
        "x": x,
        "flip(-1)": np.fliplr(x),
        "flip(-2)": np.flipud(x),
        "rot90(1)": np.rot90(x),
        "roll(2)": np.roll(x, 2, axis=1),
    }
    for ax, (title, panel) in zip(drawn.axes, expected.items(), strict=True):
        assert ax.get_title() == title
        np.testing.assert_array_equal(ax.images[0].get_array(), panel)


def test_no_two_panels_are_the_same(drawn):
    panels = [ax.images[0].get_array().tobytes() for ax in drawn.axes]
    assert len(set(panels)) == 5
