"""tensor-to-pil: pixels against integer arithmetic, and torchvision's save_image."""

import ast
import io
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms.v2.functional import to_pil_image
from torchvision.utils import save_image

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "tensors/tensor-to-pil"
SNIPPET = Path("tensors/tensor_to_pil.py")


def run(**data):
    """The snippet's variables, with other data in place of its own."""
    tree = ast.parse((ROOT / "snippets" / SNIPPET).read_text(encoding="utf-8"))
    own = [node for node in tree.body if isinstance(node, ast.Assign)]
    replaced = [node for node in own if node.targets[0].id in data]
    assert len(replaced) == len(data)
    tree.body = [node for node in tree.body if node not in replaced]
    names = dict(data)
    exec(compile(tree, SNIPPET, "exec"), names)
    return SimpleNamespace(**names)


def from_tensor(tensor) -> Image.Image:
    return run(tensor=tensor, array=np.zeros((1, 1))).image


def from_array(array) -> Image.Image:
    return run(tensor=torch.zeros(1, 1), array=array).same_image


def pixels(image: Image.Image) -> list:
    return np.asarray(image).tolist()


def level(value: float) -> int:
    """The nearest of 0 to 255, in exact arithmetic."""
    return min(max(round(Fraction(value) * 255), 0), 255)


def test_the_snippets_own_data():
    snippet = load_snippet(SNIPPET)
    assert pixels(snippet.image) == [[[0, 0, 255], [128, 51, 255]]]
    assert snippet.image == snippet.same_image
    assert snippet.array.shape == (1, 2, 3)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str
)
def test_every_float_becomes_the_nearest_level(dtype):
    row = torch.linspace(-0.1, 1.1, 999, dtype=torch.float64).to(dtype)
    expected = [[level(value) for value in row.tolist()]]
    assert pixels(from_tensor(row[None])) == expected
    if dtype in (torch.float32, torch.float64):
        assert pixels(from_array(row[None].numpy())) == expected


def test_levels_survive_the_round_trip():
    levels = torch.arange(256, dtype=torch.uint8).view(1, 16, 16)
    floats = levels.float() / 255
    assert pixels(from_tensor(floats)) == levels[0].tolist()
    assert pixels(from_array(floats[0].numpy())) == levels[0].tolist()
    assert pixels(from_tensor(levels)) == levels[0].tolist()
    assert pixels(to_pil_image(levels)) == levels[0].tolist()
    assert pixels(Image.fromarray(levels[0].numpy())) == levels[0].tolist()


@pytest.mark.parametrize(("C", "mode"), [(1, "L"), (3, "RGB"), (4, "RGBA")])
def test_channels_and_sides(C, mode):
    tensor = torch.rand(C, 4, 6)  # (C, H, W)
    hwc = tensor.permute(1, 2, 0)
    expected = [[[level(v) for v in x] for x in y] for y in hwc.tolist()]
    image = from_tensor(tensor)
    assert (image.mode, image.size) == (mode, (6, 4))  # (W, H)
    assert np.asarray(image).reshape(4, 6, C).tolist() == expected
    array = hwc.numpy()
    assert from_array(array[..., 0] if C == 1 else array) == image


def test_two_dimensions_are_height_and_width():
    grey = torch.rand(4, 6)
    assert from_tensor(grey).size == (6, 4)
    assert from_tensor(grey) == from_tensor(grey[None]) == from_array(grey.numpy())


def test_hard_tensors_stay_as_they_are():
    tensor = torch.rand(5, 6, 3, requires_grad=True).permute(2, 0, 1)
    before = tensor.tolist()
    assert from_tensor(tensor) == from_tensor(tensor.detach().clone())
    assert tensor.tolist() == before
    array = np.array([[0.5, 2.0]])
    from_array(array)
    assert array.tolist() == [[0.5, 2.0]]


def test_save_image_writes_the_same_pixels(tmp_path):
    tensor = torch.rand(3, 8, 8) * 1.2 - 0.1
    save_image(tensor, tmp_path / "image.png")
    with Image.open(tmp_path / "image.png") as image:
        assert pixels(image) == pixels(from_tensor(tensor))


def test_the_wrapping_the_page_tells_of():
    row = torch.tensor([[1.5, -0.5, 0.999]])
    assert pixels(to_pil_image(row)) == [[126, 129, 254]]
    assert pixels(from_tensor(row)) == [[255, 0, 255]]
    assert np.array([0.2, 0.99]).astype(np.uint8).tolist() == [0, 0]
    assert pixels(from_array(np.array([[0.0, 1.0, 9.0, 255.0]]))) == [
        [0, 255, 255, 255]
    ]


def test_masks_bgr_and_floats():
    mask = torch.tensor([[0, 200], [255, 1]])
    assert pixels(to_pil_image(mask.to(torch.uint8))) == mask.tolist()
    assert pixels(to_pil_image((mask > 9).byte() * 255)) == [[0, 255], [255, 0]]
    kept = to_pil_image(torch.tensor([[[0.25, -3.0]]]), mode="F")
    assert pixels(kept) == [[0.25, -3.0]]
    bgr = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    assert pixels(Image.fromarray(bgr[..., ::-1])) == bgr[..., ::-1].tolist()


def test_bad_input_is_refused_as_documented():
    with raises_as_documented(PAGE, "ValueError: pic should be"):
        from_tensor(torch.rand(2, 3, 4, 4))
    with raises_as_documented(PAGE, "ValueError: pic should not"):
        from_tensor(torch.rand(224, 224, 3))
    with raises_as_documented(PAGE, "TypeError: pic should be Tensor or ndarray"):
        to_pil_image(Image.new("RGB", (1, 1)))
    with raises_as_documented(PAGE, "TypeError: Input type int64"):
        to_pil_image(torch.zeros(4, 4, dtype=torch.int64))
    with raises_as_documented(PAGE, "TypeError: Input type bool"):
        to_pil_image(torch.zeros(4, 4, dtype=torch.bool))
    with raises_as_documented(PAGE, "TypeError: Cannot handle this"):
        Image.fromarray(np.full((2, 2, 3), 0.5, np.float32))
    with raises_as_documented(PAGE, "AttributeError: 'Tensor' object has"):
        Image.fromarray(torch.zeros(2, 2))
    with raises_as_documented(PAGE, "OSError: cannot write mode"):
        Image.fromarray(np.zeros((2, 2), np.float32)).save(io.BytesIO(), "jpeg")
    with raises_as_documented(PAGE, "ValueError: unknown file") as caught:
        save_image(torch.zeros(3, 4, 4), "step_0.5")
    assert str(caught.value).endswith(" .5")
    with pytest.raises(TypeError, match=r"data type: \(1, 1, 1\), \|u1"):
        from_array(np.zeros((2, 2, 1)))
