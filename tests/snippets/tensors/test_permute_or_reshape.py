"""permute-or-reshape: the panels, against NumPy."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/permute_or_reshape.py")


def test_panels_show_the_channel_the_same_and_the_garbled_one(drawn):
    first, same, garbled = (ax.images[0].get_array().data for ax in drawn.axes)
    image = drawn.image.numpy()
    np.testing.assert_array_equal(first, image[..., 0])
    np.testing.assert_array_equal(same, image.transpose(2, 0, 1)[0])
    np.testing.assert_array_equal(garbled, image.ravel()[: 24 * 30].reshape(24, 30))


def test_the_image_has_a_disc_and_two_gradients(drawn):
    assert drawn.image.shape == (24, 30, 3)
    assert drawn.disc[12, 15] == 1
    assert drawn.disc.mean().item() == pytest.approx(np.pi * 75 / 24 / 30, abs=0.02)
    assert drawn.image[12, 15].tolist() == [1.0, 0.5, 0.5]
