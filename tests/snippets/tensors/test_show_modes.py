"""show-modes: the panels, by repetition, by Pillow and by OpenCV."""

import cv2
import numpy as np
import pytest
from PIL import Image

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_modes.py")


@pytest.fixture
def panels(drawn):
    return [ax.images[0].get_array().data for ax in drawn.axes.flat]


def by_pillow(array, size):
    """Bilinear with antialias, which Pillow always does."""
    image = Image.fromarray(array).resize(size, Image.Resampling.BILINEAR)
    return np.asarray(image)


def test_the_letter_enlarged(panels):
    letter, nearest, bilinear, bicubic = panels[:4]
    assert letter.shape == (7, 6)
    np.testing.assert_array_equal(nearest, letter.repeat(4, 0).repeat(4, 1))
    np.testing.assert_allclose(bilinear, by_pillow(letter, (24, 28)), atol=1e-5)
    expected = cv2.resize(letter, (24, 28), interpolation=cv2.INTER_CUBIC)
    np.testing.assert_allclose(bicubic, expected, atol=1e-5)


def test_the_rings_made_smaller(panels):
    rings, nearest, bilinear, antialias = panels[4:]
    places = np.floor((np.arange(20) + 0.5) * len(rings) / 20).astype(int)
    np.testing.assert_array_equal(nearest, rings[places][:, places])
    expected = cv2.resize(rings, (20, 20), interpolation=cv2.INTER_LINEAR)
    np.testing.assert_allclose(bilinear, expected, atol=1e-4)
    np.testing.assert_allclose(antialias, by_pillow(rings, (20, 20)), atol=1e-4)


def test_only_antialias_makes_the_finest_rings_grey(panels):
    nearest, bilinear, antialias = (panel[10:, 10:] for panel in panels[5:])
    assert antialias.std() < 0.1
    assert min(nearest.std(), bilinear.std()) > 2 * antialias.std()


def test_the_titles(drawn):
    titles = [ax.get_title() for ax in drawn.axes.flat]
    modes = ["nearest-exact", "bilinear"]
    assert titles == ["input", *modes, "bicubic", "input", *modes, "antialias"]
