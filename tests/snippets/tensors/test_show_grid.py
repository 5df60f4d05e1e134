"""show-grid: the dots by trigonometry, the output by torchvision."""

import math

import numpy as np
import pytest
from torchvision.transforms.v2 import functional as TF

from tests.helpers import load_snippet

ANGLE = math.radians(30)


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_grid.py")


def test_the_dots_are_turned_clockwise_about_the_centre(drawn):
    dots, first = (line.get_xydata() for line in drawn.axes[0].lines)
    places = [(x, y) for y in range(0, 16, 3) for x in range(0, 16, 3)]
    assert len(dots) == len(places)
    for dot, (x, y) in zip([*dots, *first], [*places, (0, 0)], strict=True):
        x, y = x - 7.5, y - 7.5
        right = x * math.cos(ANGLE) - y * math.sin(ANGLE)
        down = x * math.sin(ANGLE) + y * math.cos(ANGLE)
        np.testing.assert_allclose(dot, (right + 7.5, down + 7.5), atol=0.05)
    corner = drawn.axes[1].lines[0].get_xydata()
    assert corner.tolist() == [[0, 0]]


def test_the_output_is_the_input_turned_counterclockwise(drawn):
    x, output = (ax.images[0].get_array().data for ax in drawn.axes)
    smooth = TF.InterpolationMode.BILINEAR
    expected = TF.rotate(drawn.x, 30, smooth)[0, 0].numpy()  # counterclockwise
    assert np.abs(output - expected).max() < 0.1
    assert np.abs(output - x).max() > 0.5


def test_all_dots_and_both_images_are_in_sight(drawn):
    for ax in drawn.axes:
        assert ax.get_xlim() == (-4.5, 19.5)
        assert ax.get_ylim() == (19.5, -4.5)
    dots = np.concatenate([line.get_xydata() for line in drawn.axes[0].lines])
    assert dots.min() > -4.5
    assert dots.max() < 19.5
    assert [ax.get_title() for ax in drawn.axes] == ["input", "output"]
