"""segmentation-training: class numbers of colours, and what changes a palette."""

import cv2
import numpy as np
from PIL import Image
from torchvision.tv_tensors import Mask

from tests.helpers import load_snippet

class_numbers = load_snippet("training/segmentation_masks.py").class_numbers


def test_colours_become_class_numbers():
    """Round trip: numbers are painted by a table, and read again."""
    colors = [(0, 0, 0), (128, 0, 0), (0, 128, 0), (128, 128, 0)]
    numbers = np.random.default_rng(0).integers(4, size=(7, 9))
    painted = np.take(np.array(colors, dtype=np.uint8), numbers, axis=0)
    image = Image.fromarray(painted)
    assert np.array_equal(class_numbers(image, colors), numbers)
    found = np.array(class_numbers(image, colors[:2]))  # the others: 255
    assert np.array_equal(found, np.where(numbers < 2, numbers, 255))
    palette = Image.fromarray(numbers.astype(np.uint8), "P")
    palette.putpalette(np.ravel(colors).tolist())
    assert np.array_equal(class_numbers(palette, colors), numbers)
    grey = Image.fromarray((127 * (numbers % 3)).astype(np.uint8))
    greys = [(0, 0, 0), (127, 127, 127), (254, 254, 254)]
    assert np.array_equal(class_numbers(grey, greys), numbers % 3)
    white = Image.fromarray(numbers > 1)  # one bit a pixel
    found = Mask(class_numbers(white, [(0, 0, 0), (255, 255, 255)]))
    assert np.array_equal(found[0], numbers > 1)


def test_what_changes_the_numbers_of_a_palette(tmp_path):
    numbers = np.arange(60, dtype=np.uint8).reshape(6, 10) % 3
    image = Image.fromarray(numbers, "P")
    image.putpalette([0, 0, 0, 128, 0, 0, 0, 128, 0])
    path = str(tmp_path / "palette.png")
    image.save(path)
    image = Image.open(path)
    assert np.array_equal(Mask(image)[0], numbers)
    assert np.unique(image.convert("L")).tolist() == [0, 38, 75]
    assert Mask(image.convert("RGB")).shape == (3, 6, 10)
    assert cv2.imread(path, cv2.IMREAD_UNCHANGED).shape == (6, 10, 3)
