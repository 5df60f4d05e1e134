"""opencv-to-tensor: every pixel against Pillow's, there and back."""

import io
import re

import cv2
import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torchvision.transforms import v2

from tests.chains.pasted import answer
from tests.helpers import assert_documented, load_snippet, raises_as_documented

PAGE = "tensors/opencv-to-tensor"
TO_FLOAT = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])
SWAP = cv2.COLOR_BGR2RGB


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def pixels():
    """RGB, other values in every channel."""
    return np.random.default_rng(0).integers(256, size=(5, 7, 3), dtype=np.uint8)


@pytest.fixture
def run(monkeypatch):
    """The snippet, run on another image of OpenCV's in place of its own."""

    def run(bgr):
        with monkeypatch.context() as patch:
            patch.setattr(cv2, "imread", lambda path: bgr)
            return load_snippet("tensors/opencv_to_tensor.py")

    return run


def test_the_snippets_own_image(capsys):
    load_snippet("tensors/opencv_to_tensor.py")
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "(3, 2, 4) torch.float32 tensor([0.0000, 0.2000, 1.0000])"
    assert printed[1] == "[255  51   0]"
    with Image.open("image.png") as image:
        assert image.size == (4, 2)
        assert image.getpixel((3, 1)) == (0, 51, 255)


def test_the_tensor_is_that_of_pillow_and_torchvision(run, pixels):
    Image.fromarray(pixels).save("photo.png")
    x = run(cv2.imread("photo.png")).x
    with Image.open("photo.png") as image:
        wanted = TO_FLOAT(image)
    assert x.dtype == torch.float32
    torch.testing.assert_close(x, wanted.data)


def test_pillow_reads_the_same_pixels_from_the_copy(run, pixels):
    snippet = run(pixels[..., ::-1].copy())
    np.testing.assert_array_equal(snippet.array, pixels)
    with Image.open("copy.png") as copy:
        np.testing.assert_array_equal(np.array(copy), pixels)


def test_back_from_the_output_of_a_model(run, monkeypatch):
    """With a gradient, outside [0, 1], between two levels."""
    values = torch.tensor([-0.5, 0.4999, 2.0]).view(3, 1, 1)
    output = values.requires_grad_() * 1
    monkeypatch.setattr(torch.Tensor, "permute", lambda x, *_: x)
    monkeypatch.setattr(torch, "from_numpy", lambda array: output * 255)
    levels = run(np.zeros((3, 1, 1), np.uint8)).levels
    assert levels.dtype == torch.uint8
    assert levels.flatten().tolist() == [0, 127, 255]


def test_the_flag_for_rgb(pixels):
    Image.fromarray(pixels).save("photo.png")
    rgb = cv2.imread("photo.png", cv2.IMREAD_COLOR_RGB)
    np.testing.assert_array_equal(rgb, pixels)
    np.testing.assert_array_equal(cv2.imread("photo.png")[..., ::-1], pixels)


def test_negative_strides(pixels):
    with raises_as_documented(PAGE, "ValueError: At least one stride"):
        torch.from_numpy(pixels[..., ::-1])
    swapped = torch.from_numpy(pixels[..., ::-1].copy()).numpy()
    np.testing.assert_array_equal(swapped, cv2.cvtColor(pixels, SWAP))


def test_a_file_that_cannot_be_read(capfd):
    image = cv2.imread("missing.png")
    assert image is None
    assert "missing.png" in capfd.readouterr().err
    with pytest.raises(cv2.error, match=r"!_src\.empty\(\) in function 'cvtColor'"):
        cv2.cvtColor(image, SWAP)
    with raises_as_documented(PAGE, "AttributeError: 'NoneType' object has"):
        image.shape  # noqa: B018
    with raises_as_documented(PAGE, "TypeError: expected np.ndarray (got None"):
        torch.from_numpy(image)


@pytest.mark.filterwarnings("ignore")
def test_floats_are_not_scaled():
    cv2.imwrite("float.png", np.full((2, 2, 3), 0.9, np.float32))
    assert cv2.imread("float.png").max() == 1


def test_drawing_needs_one_block_of_memory(pixels):
    permuted = torch.from_numpy(pixels).permute(2, 0, 1).contiguous().permute(1, 2, 0)
    for image in (permuted.numpy(), pixels[..., ::-1]):
        with pytest.raises(cv2.error, match="Layout of the output array img is incomp"):
            cv2.rectangle(image, (0, 0), (3, 3), (255, 0, 0))
        block = np.ascontiguousarray(image)
        cv2.rectangle(block, (0, 0), (3, 3), (255, 0, 0))
        assert block[0, 0].tolist() == [255, 0, 0]


def test_a_tensor_is_no_array():
    x = torch.rand(8, 8, 3)
    with pytest.raises(cv2.error, match="img is not a numpy array, neither a scalar"):
        cv2.imwrite("tensor.png", x)
    assert cv2.imwrite("tensor.png", x.mul(255).byte().numpy())


@pytest.mark.skipif(
    not re.search(r"GUI: +NONE", cv2.getBuildInformation()), reason="it has windows"
)
def test_the_headless_package_has_no_windows(pixels):
    with pytest.raises(cv2.error) as caught:
        cv2.imshow("photo", pixels)
    said = str(caught.value).partition("error) ")[2]
    assert_documented(PAGE, "The function is not implemented", said)


def test_a_path_that_is_not_english(pixels, tmp_path):
    path = tmp_path / "图像.png"
    Image.fromarray(pixels).save(path)
    image = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
    np.testing.assert_array_equal(image[..., ::-1], pixels)
    cv2.imencode(".png", image)[1].tofile(path.with_stem("副本"))
    assert path.with_stem("副本").exists()
    with Image.open(path.with_stem("副本")) as copy:
        np.testing.assert_array_equal(np.array(copy), pixels)


def test_the_answer_reads_a_grey_file_and_names_one_that_is_missing(pixels):
    Image.fromarray(pixels[..., 0]).save("grey.png")
    names = {"path": "grey.png"}
    exec(answer("opencv-to-tensor"), names)
    assert names["x"].shape == (3, 5, 7)
    grey = torch.from_numpy(pixels[..., 0].copy()) / 255
    assert torch.equal(names["x"], grey.expand(3, 5, 7))
    with pytest.raises(FileNotFoundError, match=r"missing\.png"):
        exec(answer("opencv-to-tensor"), {"path": "missing.png"})


def test_uint8_is_refused_by_layers(pixels):
    with raises_as_documented(PAGE, "RuntimeError: Input type (unsigned char)"):
        nn.Conv2d(3, 4, 3)(torch.from_numpy(pixels).permute(2, 0, 1))


def test_grey_alpha_and_16_bits(pixels):
    Image.fromarray(pixels).convert("L").save("grey.png")
    grey = cv2.imread("grey.png", cv2.IMREAD_GRAYSCALE)
    assert grey.shape == (5, 7)
    assert (torch.from_numpy(grey)[None] / 255).shape == (1, 5, 7)
    assert cv2.imread("grey.png").shape == (5, 7, 3)

    rgba = Image.fromarray(pixels).convert("RGBA")
    rgba.save("alpha.png")
    assert cv2.imread("alpha.png").shape == (5, 7, 3)
    bgra = cv2.imread("alpha.png", cv2.IMREAD_UNCHANGED)
    rgb = cv2.cvtColor(bgra, cv2.COLOR_BGRA2RGB)
    np.testing.assert_array_equal(rgb, pixels)

    Image.fromarray(np.full((2, 2), 39321, np.uint16)).save("deep.png")
    assert cv2.imread("deep.png").dtype == np.uint8
    deep = torch.from_numpy(cv2.imread("deep.png", cv2.IMREAD_UNCHANGED)) / 65535
    torch.testing.assert_close(deep, torch.full((2, 2), 0.6))


def test_the_default_turns_a_photo_upright(pixels):
    exif, file = Image.Exif(), io.BytesIO()
    exif[0x0112] = 6  # to be turned clockwise
    Image.fromarray(pixels).save(file, "png", exif=exif)
    encoded = np.frombuffer(file.getvalue(), np.uint8)
    upright = cv2.imdecode(encoded, cv2.IMREAD_COLOR_RGB)
    np.testing.assert_array_equal(upright, np.rot90(pixels, -1))
    stored = cv2.imdecode(encoded, cv2.IMREAD_UNCHANGED)
    assert stored.shape == pixels.shape


def test_resize_takes_the_width_first(pixels):
    assert cv2.resize(pixels, (30, 20)).shape == (20, 30, 3)
