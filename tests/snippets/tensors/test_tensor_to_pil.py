"""tensor-to-pil: pixels against integer arithmetic, and torchvision's save_image."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional as F
from torchvision.transforms.v2.functional import to_pil_image
from torchvision.utils import save_image

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("tensors/tensor_to_pil.py")
array_to_pil, tensor_to_pil = snippet.array_to_pil, snippet.tensor_to_pil
PAGE = "tensors/tensor-to-pil"


def pixels(image: Image.Image) -> list:
    return np.asarray(image).tolist()


def level(value: float) -> int:
    """The nearest of 0 to 255, in exact arithmetic."""
    return min(max(round(Fraction(value) * 255), 0), 255)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str
)
def test_every_float_becomes_the_nearest_level(dtype):
    row = torch.linspace(-0.1, 1.1, 999, dtype=torch.float64).to(dtype)
    expected = [[level(value) for value in row.tolist()]]
    assert pixels(tensor_to_pil(row[None])) == expected
    if dtype != torch.bfloat16:
        assert pixels(array_to_pil(row[None].numpy())) == expected


def test_what_is_no_number_is_black():
    row = torch.tensor([[float("nan"), float("inf"), -float("inf")]])
    assert pixels(tensor_to_pil(row)) == [[0, 255, 0]]


def test_levels_survive_the_round_trip():
    levels = torch.arange(256, dtype=torch.uint8).view(1, 16, 16)
    assert pixels(tensor_to_pil(levels.float() / 255)) == levels[0].tolist()
    assert pixels(tensor_to_pil(levels)) == levels[0].tolist()


@pytest.mark.parametrize(("C", "mode"), [(1, "L"), (3, "RGB"), (4, "RGBA")])
def test_channels_and_sides(C, mode):
    tensor = torch.randint(256, (C, 4, 6), dtype=torch.uint8)  # (C, H, W)
    for image in [
        tensor_to_pil(tensor),
        tensor_to_pil(tensor.float() / 255),
        array_to_pil(tensor.permute(1, 2, 0).numpy()),
    ]:
        assert image.mode == mode
        assert image.size == (6, 4)  # (W, H)
        shown = np.asarray(image).reshape(4, 6, C)
        np.testing.assert_array_equal(shown, tensor.permute(1, 2, 0))


def test_two_dimensions_are_height_and_width():
    grey = torch.rand(4, 6)
    assert tensor_to_pil(grey).size == (6, 4)
    assert pixels(tensor_to_pil(grey)) == pixels(tensor_to_pil(grey[None]))
    assert pixels(array_to_pil(grey.numpy())) == pixels(tensor_to_pil(grey))


def test_hard_tensors():
    tensor = torch.rand(5, 6, 3, requires_grad=True).permute(2, 0, 1)
    before = tensor.tolist()
    expected = pixels(tensor_to_pil(tensor.detach().clone()))
    assert pixels(tensor_to_pil(tensor)) == expected
    assert tensor.tolist() == before
    bgr = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    assert pixels(array_to_pil(bgr[..., ::-1])) == bgr[..., ::-1].tolist()
    array = np.array([[0.5, 2.0]])
    array_to_pil(array)
    assert array.tolist() == [[0.5, 2.0]]


def test_save_image_writes_the_same_pixels(tmp_path):
    tensor = torch.rand(3, 8, 8) * 1.2 - 0.1
    save_image(tensor, tmp_path / "image.png")
    with Image.open(tmp_path / "image.png") as image:
        assert pixels(image) == pixels(tensor_to_pil(tensor))


def test_the_wrapping_the_page_tells_of():
    row = torch.tensor([[1.5, -0.5, 0.999]])
    assert pixels(to_pil_image(row)) == [[126, 129, 254]]
    assert row.mul(255).byte()[0, 2] == 254
    assert pixels(tensor_to_pil(row)) == [[255, 0, 255]]
    assert np.array([0.2, 0.99]).astype(np.uint8).tolist() == [0, 0]
    assert pixels(array_to_pil(np.array([[0.0, 1.0, 9.0, 255.0]]))) == [
        [0, 255, 255, 255]
    ]
    edge = torch.zeros(1, 1, 8, 8)
    edge[..., 4:] = 1
    resized = F.interpolate(edge, scale_factor=2, mode="bicubic")
    assert resized.min() < 0
    assert resized.max() > 1


def test_masks_and_floats():
    mask = torch.tensor([[0, 200], [255, 1]])
    assert pixels(tensor_to_pil(mask.to(torch.uint8))) == mask.tolist()
    assert pixels(tensor_to_pil((mask > 9).float())) == [[0, 255], [255, 0]]
    kept = to_pil_image(torch.tensor([[[0.25, -3.0]]]), mode="F")
    assert pixels(kept) == [[0.25, -3.0]]


@pytest.mark.parametrize("convert", [tensor_to_pil, to_pil_image])
def test_bad_input_is_refused_as_documented(convert):
    with raises_as_documented(PAGE):
        convert(torch.rand(2, 3, 4, 4))
    with raises_as_documented(PAGE):
        convert(torch.rand(224, 224, 3))
    with raises_as_documented(PAGE):
        convert(torch.zeros(4, 4, dtype=torch.int64))
    with pytest.raises(TypeError, match="Input type bool is not supported"):
        convert(torch.zeros(4, 4, dtype=torch.bool))
    with pytest.raises(ValueError, match="Got 1 dimensions"):
        convert(torch.zeros(4))


def test_what_fromarray_refuses_is_accepted():
    colour = np.full((2, 2, 3), 0.5, np.float32)
    with raises_as_documented(PAGE):
        Image.fromarray(colour)
    assert pixels(array_to_pil(colour)) == [[[128] * 3] * 2] * 2
    grey = np.full((2, 2, 1), 7, np.uint8)
    with pytest.raises(TypeError, match=r"data type: \(1, 1, 1\), \|u1"):
        Image.fromarray(grey)
    assert pixels(array_to_pil(grey)) == [[7, 7], [7, 7]]
