"""show-filters: each panel, against OpenCV."""

import cv2
import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_filters.py")


def test_each_panel_is_that_of_opencv(drawn):
    image, blurred, dx, dy, edges = (ax.images[0].get_array().data for ax in drawn.axes)
    assert image.shape == (24, 24)
    expected = cv2.GaussianBlur(image, (9, 9), 2.0, borderType=cv2.BORDER_REFLECT_101)
    np.testing.assert_allclose(blurred, expected, atol=1e-5)
    across = cv2.Sobel(image, cv2.CV_32F, 1, 0, ksize=3)
    down = cv2.Sobel(image, cv2.CV_32F, 0, 1, ksize=3)
    np.testing.assert_allclose(dx, across, atol=1e-5)
    np.testing.assert_allclose(dy, down, atol=1e-5)
    np.testing.assert_allclose(edges, np.hypot(across, down), atol=1e-5)


def test_zero_is_grey_where_there_are_negative_values(drawn):
    for ax in drawn.axes:
        low, high = ax.images[0].get_clim()
        assert low == (-4 if ax.get_title() in ("dx", "dy") else 0)
        assert high == ax.images[0].get_array().max()
        if low:
            assert high == pytest.approx(4)
            assert ax.images[0].get_array().min() >= low


def test_the_titles(drawn):
    titles = [ax.get_title() for ax in drawn.axes]
    assert titles == ["image", "blurred", "dx", "dy", "edges"]
