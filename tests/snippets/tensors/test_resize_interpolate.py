"""resize-interpolate: against Pillow, OpenCV and hand-worked rows; bad input."""

import warnings

import cv2
import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F
from torchvision.transforms import v2

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/resize-interpolate"
snippet = load_snippet("tensors/resize_interpolate.py")
photo = np.random.default_rng(0).integers(0, 256, (60, 90, 3), dtype=np.uint8)
image = torch.from_numpy(photo).permute(2, 0, 1)  # (C, H, W)
row = torch.tensor([[[0.0, 10.0]]])  # (N, C, W)


def test_the_stripes():
    x = snippet.x
    assert x.shape == (2, 3, 48, 96)
    assert x[1, 2, 7, :4].tolist() == [0, 255, 0, 255]
    # One pixel of three: without smoothing the middle one, 255, 0, 255, ...
    assert torch.equal(snippet.jagged, x[:, :, 1::3, 1::3])
    # With it, weights 1, 2, 3, 2, 1 over the five nearest: 5/9 or 4/9 of white.
    expected = torch.tensor([4.0, 5.0]).repeat(15) * 255 / 9
    inner = snippet.small[:, :, :, 1:-1]
    torch.testing.assert_close(inner, expected.expand_as(inner))
    assert snippet.large.shape == (2, 3, 96, 192)
    assert snippet.large[0, 0, 5, :4].tolist() == [0, 63.75, 191.25, 191.25]
    assert snippet.small.shape == (2, 3, 16, 32)


def test_the_single_image():
    assert snippet.one.shape == (3, 60, 120)
    opencv = cv2.resize(snippet.image.permute(1, 2, 0).numpy(), (120, 60))
    torch.testing.assert_close(
        snippet.one.permute(1, 2, 0), torch.from_numpy(opencv), atol=1e-2, rtol=0
    )


def test_the_mask_is_the_middle_pixel_of_three():
    numbers = torch.arange(48 * 96).view(48, 96) % 5 * 7
    assert torch.equal(snippet.classes[0], numbers[1::3, 1::3])
    assert snippet.classes.dtype == torch.int64
    assert torch.equal(snippet.mask[0], numbers)


def test_the_answer_for_bool_masks_odd_sizes_and_one_pixel():
    mask = torch.rand(3, 7, 5) > 0.5
    for size in ((1, 1), (13, 4), (7, 5)):
        names = {"x": torch.rand(3, 1, 7, 5), "mask": mask, "size": size}
        exec(answer("resize-interpolate"), names)
        assert names["small"].shape == (3, 1, *size)
        rows, columns = (
            ((torch.arange(new) + 0.5) * old / new).long()
            for new, old in zip(size, (7, 5), strict=True)
        )
        assert torch.equal(names["classes"], mask[:, rows][:, :, columns].long())


def resize(mode, antialias, size=(20, 30)):
    small = F.interpolate(image[None], size=size, mode=mode, antialias=antialias)
    assert small.dtype == torch.uint8
    return small[0].permute(1, 2, 0).numpy()


def test_with_antialias_it_is_pillow_and_without_opencv():
    pillow = np.asarray(Image.fromarray(photo).resize((30, 20), Image.BILINEAR))
    opencv = cv2.resize(photo, (30, 20))
    assert np.abs(resize("bilinear", True).astype(int) - pillow).max() <= 1
    assert np.abs(resize("bilinear", False).astype(int) - opencv).max() <= 1
    assert np.abs(pillow.astype(int) - opencv).max() > 100


def test_torchvision_smooths_and_takes_masks():
    small = F.interpolate(image[None], size=(16, 32), mode="bilinear", antialias=True)
    assert torch.equal(v2.functional.resize(image, [16, 32]), small[0])
    assert torch.equal(v2.functional.resize(image[None], [16, 32]), small)
    mask = torch.arange(48 * 96).view(1, 48, 96) % 5 * 7
    nearest = v2.InterpolationMode.NEAREST_EXACT
    small = v2.functional.resize(mask, [16, 32], interpolation=nearest)
    assert torch.equal(small, snippet.classes)


def test_a_single_image_needs_a_batch_dimension():
    x = torch.rand(3, 8, 8)
    with raises_as_documented(PAGE, "NotImplementedError: Got 3D"):
        F.interpolate(x, size=4, mode="bilinear")
    with raises_as_documented(PAGE, "ValueError: Anti-alias"):
        F.interpolate(x, size=4, mode="bilinear", antialias=True)
    with raises_as_documented(PAGE, "ValueError: Input and output"):
        F.interpolate(x, size=(4, 4), mode="bilinear")
    assert F.interpolate(x, scale_factor=2).shape == (3, 8, 16)


def test_masks():
    mask = torch.tensor([[[[0, 7]]]])
    with raises_as_documented(PAGE, 'NotImplementedError: "upsample_nearest2d'):
        F.interpolate(mask, size=(1, 3))
    small = F.interpolate(mask.byte(), size=(1, 3), mode="nearest-exact")
    assert small.flatten().tolist() == [0, 7, 7]
    mixed = F.interpolate(mask.float(), size=(1, 3), mode="bilinear")
    assert mixed.flatten().tolist() == [0, 3.5, 7]
    for number in (2**24, 2**24 + 1):
        exact = torch.tensor(number).float().long() == number
        assert exact == (number <= 16_777_216)


def test_sizes_and_corners():
    x = torch.rand(1, 1, 7, 7)
    half = F.max_pool2d(x, 2)
    assert F.interpolate(half, scale_factor=2).shape[2:] == (6, 6)
    assert F.interpolate(half, size=x.shape[2:]).shape == x.shape
    false = F.interpolate(row, size=4, mode="linear", align_corners=False)
    torch.testing.assert_close(false, torch.tensor([[[0, 2.5, 7.5, 10]]]))
    true = F.interpolate(row, size=4, mode="linear", align_corners=True)
    torch.testing.assert_close(true, torch.tensor([[[0, 10 / 3, 20 / 3, 10]]]))
    assert torch.equal(false, F.interpolate(row, size=4, mode="linear"))


def test_what_is_refused():
    x = torch.rand(1, 3, 8, 8)
    for mode in ("nearest", "area"):
        with raises_as_documented(PAGE, "ValueError: align_corners"):
            F.interpolate(x, size=4, mode=mode, align_corners=False)
        with raises_as_documented(PAGE, "ValueError: Anti-alias"):
            F.interpolate(x, size=4, mode=mode, antialias=True)
    with raises_as_documented(PAGE, 'NotImplementedError: "compute_index'):
        F.interpolate(x.half(), size=4, mode="bilinear", antialias=True)
    with raises_as_documented(PAGE, "TypeError: expected size"):
        F.interpolate(x, size=(8 / 2, 8 / 2))
    with raises_as_documented(PAGE, "RuntimeError: Input and output sizes"):
        F.interpolate(x[:, :, 8:], size=4)
    for mode in ("nearest", "bilinear"):
        with raises_as_documented(PAGE, "RuntimeError: Input and output sizes"):
            F.interpolate(x[:, :, :1, :1], scale_factor=0.5, mode=mode)


def test_the_old_name_warns():
    with (
        warnings.catch_warnings(),
        raises_as_documented(PAGE, "UserWarning: `nn.functional.upsample`"),
    ):
        warnings.simplefilter("error")
        F.upsample(row, size=4)


def test_logits_to_the_size_of_the_labels():
    """Two columns of 0 and 3 become 0, 0.75, 2.25, 3: above 1 from the third on."""
    logits = torch.tensor([[1.0, 1.0], [0.0, 3.0]])[None, :, None]  # (1, 2, 1, 2)
    mask = torch.tensor([[[0, 0, 1, 1]] * 5])  # (N, H, W)
    large = F.interpolate(logits, size=mask.shape[-2:], mode="bilinear")
    assert large[0, 1, 0].tolist() == [0, 0.75, 2.25, 3]
    assert torch.equal(large.argmax(1), mask)


def test_variants():
    x = torch.rand(1, 1, 4, 4)
    layer = nn.Upsample(scale_factor=2, mode="bilinear")
    expected = F.interpolate(x, scale_factor=2, mode="bilinear")
    assert torch.equal(layer(x), expected)
    step = torch.tensor([0.0, 0, 1, 1]).expand(1, 1, 4, 4)
    cubic = F.interpolate(step, size=(9, 9), mode="bicubic")
    assert cubic.min() < 0 < 1 < cubic.max()
    volume = F.interpolate(torch.rand(1, 1, 4, 4, 4), size=2, mode="trilinear")
    assert volume.shape == (1, 1, 2, 2, 2)
