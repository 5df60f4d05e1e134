"""pil-to-tensor: pixels against Pillow's own, scaling against torchvision."""

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision import transforms
from torchvision.io import decode_image
from torchvision.transforms import v2

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/pil-to-tensor"
TO_FLOAT = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def convert(monkeypatch):
    """The snippet, run on a given image in place of its own."""

    def run(image):
        with monkeypatch.context() as patch:
            patch.setattr(Image, "open", lambda file: image)
            loaded = load_snippet("tensors/pil_to_tensor.py")
        return loaded.array, loaded.tensor

    return run


@pytest.fixture
def colours():
    values = np.random.default_rng(0).integers(256, size=(4, 6, 3), dtype=np.uint8)
    return Image.fromarray(values)


def test_the_snippets_own_image():
    snippet = load_snippet("tensors/pil_to_tensor.py")
    assert snippet.array.tolist() == [[[255, 51, 0]] * 4] * 2
    torch.testing.assert_close(snippet.tensor[:, 1, 3], torch.tensor([1, 0.2, 0]))


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P", "RGBA", "LA", "CMYK", "HSV"])
def test_every_8_bit_mode_gives_the_rgb_pixels(convert, colours, mode):
    image = colours.convert(mode)
    rgb = image.convert("RGB")
    array, tensor = convert(image)
    assert (array.dtype, array.shape) == (np.uint8, (4, 6, 3))
    assert (tensor.dtype, tensor.shape) == (torch.float32, (3, 4, 6))
    for y, x in np.ndindex(4, 6):
        wanted = rgb.getpixel((x, y))
        assert tuple(array[y, x].tolist()) == wanted
        found = tensor[:, y, x].tolist()
        assert found == pytest.approx([c / 255 for c in wanted])


def test_it_scales_as_torchvision_does(convert, colours):
    _, tensor = convert(colours)
    assert torch.equal(tensor, transforms.ToTensor()(colours))
    assert torch.equal(tensor, transforms.functional.to_tensor(colours))
    torch.testing.assert_close(tensor, TO_FLOAT(colours).data)
    kept = v2.functional.pil_to_tensor(colours)
    assert kept.dtype == torch.uint8
    torch.testing.assert_close(kept / 255, tensor)


def test_the_array_and_the_tensor_are_copies(convert, colours):
    before = colours.copy()
    array, tensor = convert(colours)
    first = tensor.clone()
    array[:] = 0  # writable
    assert colours == before
    assert torch.equal(tensor, first)
    assert not np.asarray(colours).flags.writeable


def test_the_file_may_be_gone(colours):
    colours.save("image.png")
    names = {"path": "image.png"}
    exec(answer("pil-to-tensor"), names)
    Path("image.png").unlink()
    assert Image.fromarray(names["array"]) == colours


@pytest.mark.parametrize("orientation", [1, 2, 3, 4, 5, 6, 7, 8])
def test_exif_orientation(convert, orientation):
    # Orientation 6 is to be turned clockwise to be seen, and so on.
    seen = {
        1: lambda a: a,
        2: np.fliplr,
        3: lambda a: np.rot90(a, 2),
        4: np.flipud,
        5: lambda a: a.swapaxes(0, 1),
        6: lambda a: np.rot90(a, -1),
        7: lambda a: np.rot90(a, 2).swapaxes(0, 1),
        8: lambda a: np.rot90(a, 1),
    }[orientation]
    stored = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    exif, file = Image.Exif(), io.BytesIO()
    exif[0x0112] = orientation
    Image.fromarray(stored).save(file, "png", exif=exif)
    array, _ = convert(Image.open(file))
    np.testing.assert_array_equal(array, seen(stored))
    np.testing.assert_array_equal(np.array(Image.open(file)), stored)  # Pillow's


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float32])
def test_deep_images_are_clipped(convert, dtype):
    image = Image.fromarray(np.array([[0, 255, 65535]], dtype))
    array, _ = convert(image)
    assert array[0, :, 0].tolist() == [0, 255, 255]


def test_sixteen_bits_by_the_transforms_and_by_to_tensor():
    image = Image.fromarray(np.array([[0, 13107, 65535]], np.uint16))
    assert image.mode == "I;16"
    expected = torch.tensor([[[0, 0.2, 1]]])
    torch.testing.assert_close(TO_FLOAT(image).data, expected)
    by_hand = torch.from_numpy(np.array(image)) / 65535
    torch.testing.assert_close(by_hand, expected[0])
    unscaled = transforms.ToTensor()(image)
    assert unscaled.tolist() == [[[0, 13107, -1]]]
    assert transforms.ToTensor()(np.full((1, 1, 3), 200.0)).max() == 200


def test_deep_modes_that_do_not_tell_their_range():
    pixels = np.array([[0, 13107, 65535]], np.uint16)
    pgm = io.BytesIO(b"P5 3 1 65535\n" + pixels.astype(">u2").tobytes())
    expected = torch.tensor([[0, 0.2, 1]])
    for image in (Image.open(pgm), Image.fromarray(pixels.astype(np.int32))):
        assert image.mode == "I"
        scaled = TO_FLOAT(image).data[0]
        torch.testing.assert_close(scaled, expected * 65535 / (2**31 - 1))
        assert (scaled * 255).round().max() == 0  # black
        by_hand = torch.from_numpy(np.array(image)) / 65535
        torch.testing.assert_close(by_hand, expected)
    image = Image.fromarray(pixels.astype(np.float32))
    assert image.mode == "F"
    assert TO_FLOAT(image).tolist() == [pixels.tolist()]
    torch.testing.assert_close(torch.from_numpy(np.array(image)) / 65535, expected)


def test_alpha_is_dropped_or_blended(convert):
    image = Image.new("RGBA", (1, 1), (255, 0, 0, 0))  # nothing to be seen
    assert convert(image)[0].tolist() == [[[255, 0, 0]]]
    background = Image.new("RGBA", image.size, "white")
    background.alpha_composite(image.convert("RGBA"))
    assert convert(background)[0].tolist() == [[[255, 255, 255]]]


def test_unconverted_channels(convert, colours):
    counts = {"RGBA": 4, "L": 1, "P": 1}
    for mode, channels in counts.items():
        assert v2.functional.to_image(colours.convert(mode)).shape[0] == channels
    red = Image.new("P", (1, 1), 7)
    red.putpalette([0] * 21 + [255, 0, 0])
    assert np.array(red).tolist() == [[7]]
    assert convert(red)[0].tolist() == [[[255, 0, 0]]]


def test_the_documented_errors(colours):
    with raises_as_documented(PAGE, "ValueError: axes don't match"):
        np.array(colours.convert("L")).transpose(2, 0, 1)
    with pytest.raises(RuntimeError, match=r"permute\(sparse_coo\): number of dim"):
        torch.from_numpy(np.array(colours.convert("L"))).permute(2, 0, 1)
    with raises_as_documented(PAGE, "AttributeError: 'Image' object has"):
        colours.shape  # noqa: B018
    with raises_as_documented(PAGE, "RuntimeError: Could not infer"):
        torch.tensor(colours)
    with raises_as_documented(PAGE, "TypeError: expected np.ndarray (got"):
        torch.from_numpy(colours)
    with raises_as_documented(PAGE, "TypeError: pic should be"):
        transforms.ToTensor()("image.png")
    with raises_as_documented(PAGE, "TypeError: ToTensor.__init__()"):
        transforms.ToTensor(colours)


def test_the_documented_warnings(colours):
    """Errors here, because tests turn warnings into errors."""
    with raises_as_documented(PAGE, "UserWarning: The transform `ToTensor()`"):
        v2.ToTensor()
    file = io.BytesIO()
    colours.save(file, "png")
    encoded = torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)
    with raises_as_documented(PAGE, "DeprecationWarning: The image decoding"):
        decode_image(encoded)


def test_a_mask_keeps_its_numbers():
    mask = Image.fromarray(np.array([[0, 3], [255, 1]], np.uint8))
    assert torch.from_numpy(np.array(mask)).long().tolist() == [[0, 3], [255, 1]]


def test_a_name_that_pillow_has_removed():
    with raises_as_documented(PAGE, "AttributeError: module 'PIL.Image' has no"):
        Image.ANTIALIAS  # noqa: B018
    assert Image.LANCZOS == Image.Resampling.LANCZOS
