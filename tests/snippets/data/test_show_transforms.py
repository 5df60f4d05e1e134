"""show-transforms: what the panels show."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("data/show_transforms.py")


def test_validation_shows_the_middle_of_the_resized_image(drawn):
    resized = drawn.image.resize((round(160 * 110 / 120), 110), 2)  # 2: bilinear
    left, top = (resized.width - 96) // 2, (110 - 96) // 2
    expected = np.asarray(resized.crop((left, top, left + 96, top + 96)), dtype=int)
    shown = np.asarray(drawn.axes[4].images[0].get_array(), dtype=int)
    assert np.abs(shown - expected).mean() < 2


def test_training_shows_a_new_view_each_time(drawn):
    panels = [np.asarray(ax.images[0].get_array()) for ax in drawn.axes]
    assert [panel.shape for panel in panels] == [(120, 160, 3), *[(96, 96, 3)] * 4]
    views = {panel.tobytes() for panel in panels[1:]}
    assert len(views) == 4
    assert drawn.crop(drawn.image).tobytes() == panels[4].tobytes()
    titles = [ax.get_title() for ax in drawn.axes]
    assert titles == ["image", "train", "train", "train", "val"]
    assert drawn.image.getpixel((0, 0)) == (70, 130, 180)
