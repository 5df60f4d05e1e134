"""show-padding: each panel, against numpy.pad."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_padding.py")


MODES = {
    "constant": "constant",
    "reflect": "reflect",
    "replicate": "edge",
    "circular": "wrap",
}


def test_each_panel_is_that_of_numpy(drawn):
    letter = drawn.letter[0, 0].numpy()
    assert letter.shape == (7, 6)
    assert [ax.get_title() for ax in drawn.axes] == list(MODES)
    for ax, mode in zip(drawn.axes, MODES.values(), strict=True):
        expected = np.pad(letter, [(3, 0), (5, 2)], mode=mode)  # top, left
        np.testing.assert_array_equal(ax.images[0].get_array(), expected)


def test_the_frame_is_around_the_image(drawn):
    letter = drawn.letter[0, 0].numpy()
    for ax in drawn.axes:
        (frame,) = ax.patches
        left, top = (int(edge + 0.5) for edge in frame.get_xy())
        right, bottom = left + frame.get_width(), top + frame.get_height()
        inside = ax.images[0].get_array()[top:bottom, left:right]
        np.testing.assert_array_equal(inside, letter)
