"""pil-to-tensor: pixels against Pillow's own, scaling against torchvision."""

import io

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision import transforms
from torchvision.io import decode_image
from torchvision.transforms import v2

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("tensors/pil_to_tensor.py")
pil_to_numpy, pil_to_tensor = snippet.pil_to_numpy, snippet.pil_to_tensor
PAGE = "tensors/pil-to-tensor"
TO_FLOAT = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])


@pytest.fixture
def colours():
    values = np.random.default_rng(0).integers(256, size=(4, 6, 3), dtype=np.uint8)
    return Image.fromarray(values)


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P", "RGBA", "LA", "CMYK", "HSV"])
def test_every_8_bit_mode_gives_the_rgb_pixels(colours, mode):
    image = colours.convert(mode)
    rgb = image.convert("RGB")
    array, tensor = pil_to_numpy(image), pil_to_tensor(image)
    assert array.dtype == np.uint8
    assert array.shape == (4, 6, 3)
    assert tensor.dtype == torch.float32
    assert tensor.shape == (3, 4, 6)
    assert tensor.is_contiguous()
    for y in range(4):
        for x in range(6):
            wanted = rgb.getpixel((x, y))
            assert tuple(array[y, x].tolist()) == wanted
            found = tensor[:, y, x].tolist()
            assert found == pytest.approx([c / 255 for c in wanted])


def test_it_scales_as_torchvision_does(colours):
    assert torch.equal(pil_to_tensor(colours), transforms.ToTensor()(colours))
    torch.testing.assert_close(pil_to_tensor(colours), TO_FLOAT(colours).data)


def test_the_array_is_an_independent_copy(colours):
    before = colours.copy()
    array = pil_to_numpy(colours)
    assert array.flags.writeable
    array[:] = 0
    assert colours == before
    assert not np.asarray(colours).flags.writeable  # what the page warns of


def test_the_file_may_be_closed(tmp_path, colours):
    colours.save(tmp_path / "image.png")
    with Image.open(tmp_path / "image.png") as image:
        tensor = pil_to_tensor(image)
    torch.testing.assert_close(tensor, pil_to_tensor(colours))


@pytest.mark.parametrize("orientation", [1, 2, 3, 4, 5, 6, 7, 8])
def test_exif_orientation(orientation):
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
    with Image.open(file) as image:
        np.testing.assert_array_equal(pil_to_numpy(image), seen(stored))
        np.testing.assert_array_equal(np.array(image), stored)  # Pillow does not


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float32])
def test_deep_images_are_refused(dtype):
    image = Image.fromarray(np.array([[0, 255, 65535]], dtype))
    assert np.array(image.convert("RGB"))[0, :, 0].tolist() == [0, 255, 255]
    for convert in (pil_to_numpy, pil_to_tensor):
        with pytest.raises(ValueError, match=f"mode {image.mode} has more"):
            convert(image)


def test_sixteen_bits_by_the_transforms_and_by_to_tensor():
    image = Image.fromarray(np.array([[0, 13107, 65535]], np.uint16))
    with raises_as_documented(PAGE):
        pil_to_tensor(image)
    expected = torch.tensor([[[0, 0.2, 1]]])
    torch.testing.assert_close(TO_FLOAT(image).data, expected)
    unscaled = transforms.ToTensor()(image)
    assert unscaled.dtype == torch.int16
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


def test_alpha_is_dropped_or_blended():
    image = Image.new("RGBA", (1, 1), (255, 0, 0, 0))  # nothing to be seen
    assert pil_to_numpy(image).tolist() == [[[255, 0, 0]]]
    background = Image.new("RGBA", image.size, "white")
    background.alpha_composite(image)
    assert pil_to_numpy(background).tolist() == [[[255, 255, 255]]]


def test_unconverted_channels(colours):
    counts = {"RGBA": 4, "L": 1, "P": 1}
    for mode, channels in counts.items():
        assert v2.functional.to_image(colours.convert(mode)).shape[0] == channels
    red = Image.new("P", (1, 1), 7)
    red.putpalette([0] * 21 + [255, 0, 0])
    assert np.array(red).tolist() == [[7]]
    assert pil_to_numpy(red).tolist() == [[[255, 0, 0]]]
    kept = v2.functional.pil_to_tensor(colours)
    assert kept.dtype == torch.uint8
    assert kept.shape == (3, 4, 6)
    assert not kept.is_contiguous()


def test_the_documented_errors(colours):
    with raises_as_documented(PAGE):
        np.array(colours.convert("L")).transpose(2, 0, 1)
    with raises_as_documented(PAGE):
        torch.tensor(colours)
    with raises_as_documented(PAGE):
        v2.ToTensor()  # an error here, because tests turn warnings into errors
    file = io.BytesIO()
    colours.save(file, "png")
    encoded = torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)
    with raises_as_documented(PAGE):
        decode_image(encoded)


def test_a_mask_keeps_its_numbers():
    mask = Image.fromarray(np.array([[0, 3], [255, 1]], np.uint8))
    assert torch.from_numpy(np.array(mask)).long().tolist() == [[0, 3], [255, 1]]


def test_float32_whatever_the_default(colours):
    torch.set_default_dtype(torch.float64)
    try:
        assert pil_to_tensor(colours).dtype == torch.float32
    finally:
        torch.set_default_dtype(torch.float32)
