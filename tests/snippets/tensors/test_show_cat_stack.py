"""show-cat-stack: each panel, against NumPy."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_cat_stack.py")


COLOURS = [(0x3B, 0x82, 0xD6), (0xD4, 0x65, 0x2A), (0x2F, 0x9E, 0x58)]


def layers(ax):
    """Each drawn table as numbers, its first row on top; the one in front is last."""
    for mesh in ax.collections:
        mesh.update_scalarmappable()
        corners = mesh.get_coordinates()
        assert corners[0, 0, 1] < corners[-1, 0, 1], "the first row is the lowest"
        H, W = corners.shape[0] - 1, corners.shape[1] - 1
        faces = (mesh.get_facecolor()[:, :3] * 255).round().astype(int).tolist()
        numbers = np.reshape([COLOURS.index(tuple(face)) for face in faces], (H, W))
        yield tuple(corners[0, 0]), numbers[::-1]


def test_the_panels_are_what_numpy_makes(drawn):
    parts = [np.full((2, 3), number) for number in range(3)]
    ((_, rows),) = layers(drawn.axes[0])
    np.testing.assert_array_equal(rows, np.concatenate(parts))
    ((_, columns),) = layers(drawn.axes[1])
    np.testing.assert_array_equal(columns, np.concatenate(parts, axis=1))
    stacked = list(layers(drawn.axes[2]))[::-1]
    np.testing.assert_array_equal([table for _, table in stacked], np.stack(parts))


def test_the_layers_of_stack_lie_behind_each_other(drawn):
    places = [place for place, _ in layers(drawn.axes[2])]  # the last in front
    assert places == sorted(places, reverse=True)
    assert len(set(places)) == 3


def test_the_titles_say_the_shapes(drawn):
    a, b, c = (number * np.ones((2, 3)) for number in range(3))
    titles = [ax.get_title() for ax in drawn.axes]
    assert titles == [
        f"cat: {np.vstack([a, b, c]).shape}",
        f"cat, dim=1: {np.hstack([a, b, c]).shape}",
        f"stack: {np.array([a, b, c]).shape}",
    ]
