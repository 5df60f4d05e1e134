"""show-masks-boxes: boxes and masks against the pixels that are drawn."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("data/show_masks_boxes.py")


def panels(drawn):
    for ax in drawn.axes:
        image = ax.images[0].get_array().data
        (patch,) = ax.patches
        x1, y1, x2, y2 = (patch.get_bbox().extents + 0.5).tolist()
        yield ax.get_title(), image, (x1, y1, x2, y2), ax.collections[0]


def test_the_contour_follows_the_bright_pixels(drawn):
    for _, image, _, contour in panels(drawn):
        path = contour.get_paths()[0]
        y, x = np.mgrid[: image.shape[0], : image.shape[1]]
        inside = path.contains_points(np.stack([x, y], -1).reshape(-1, 2))
        inside = inside.reshape(image.shape)
        edge = (x == 0) | (y == 0) | (x == x.max()) | (y == y.max())
        assert ((image == 235) == inside)[~edge].mean() > 0.99


def test_the_box_is_around_them_tightly_but_after_the_rotation(drawn):
    room = {}
    for title, image, (x1, y1, x2, y2), _ in panels(drawn):
        rows, columns = np.nonzero(image == 235)
        gaps = columns.min() - x1, rows.min() - y1
        gaps += x2 - columns.max() - 1, y2 - rows.max() - 1
        assert min(gaps) > -1
        room[title] = max(gaps)
    assert room.pop("rotate") >= 2
    assert set(room) == {"before", "flip", "crop"}
    assert set(room.values()) == {0}


def test_flip_and_crop(drawn):
    images = {title: image for title, image, *_ in panels(drawn)}
    before = images["before"]
    np.testing.assert_array_equal(images["flip"], before[:, ::-1])
    crop = images["crop"]
    top, left = 4, 6
    h, w = crop.shape
    np.testing.assert_array_equal(crop, before[top : top + h, left : left + w])
