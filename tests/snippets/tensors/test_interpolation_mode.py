"""interpolation-mode: the modes against Pillow, OpenCV, NumPy and their formulas."""

import cv2
import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional as F
from torchvision import tv_tensors
from torchvision.transforms import v2

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "tensors/interpolation-mode"
ANSWER = recipes()["interpolation-mode"].answer


@pytest.fixture
def array():
    return np.random.default_rng(0).random((12, 12), np.float32)


def resized(array, size, mode, **options):
    x = torch.from_numpy(array)[None, None]
    return F.interpolate(x, size=size, mode=mode, **options)[0, 0].numpy()


@pytest.mark.parametrize("size", [(4, 4), (6, 3)])
def test_the_answer(array, size):
    mask = torch.from_numpy((array * 9).astype(np.int64))[None, None]
    names = {"image": torch.from_numpy(array)[None, None], "mask": mask, "size": size}
    exec(ANSWER.text, names)
    (h, w), pillow = size, Image.fromarray(array)
    np.testing.assert_allclose(
        names["small"][0, 0], pillow.resize((w, h), Image.BILINEAR), atol=1e-6
    )
    np.testing.assert_allclose(
        names["large"][0, 0], pillow.resize((24, 24), Image.BILINEAR), atol=1e-6
    )
    np.testing.assert_array_equal(
        names["classes"][0, 0],
        Image.fromarray(mask[0, 0].numpy().astype(np.uint8)).resize(
            (w, h), Image.NEAREST
        ),
    )
    blocks = array.reshape(h, 12 // h, w, 12 // w)
    np.testing.assert_allclose(names["means"][0, 0], blocks.mean((1, 3)), rtol=1e-5)


def test_the_demonstration():
    found = load_snippet("tensors/interpolation_mode.py")
    assert set(found.classes.unique().tolist()) == {0, 7}
    assert not set(found.small.unique().tolist()) <= {0, 7}
    assert found.cubic.min() < 0
    assert found.cubic.max() > 7


@pytest.mark.parametrize("new", [3, 5, 8, 20])
def test_where_the_pixels_are(new):
    row = torch.randn(8, dtype=torch.float64)
    i, grid = np.arange(new), np.arange(8)
    for align, places in (
        (False, (i + 0.5) * 8 / new - 0.5),
        (True, i * (8 - 1) / (new - 1)),
    ):
        y = F.interpolate(row[None, None], new, mode="linear", align_corners=align)
        np.testing.assert_allclose(y[0, 0], np.interp(places, grid, row), atol=1e-12)
    default = F.interpolate(row[None, None], new, mode="linear")
    unaligned = F.interpolate(row[None, None], new, mode="linear", align_corners=False)
    assert torch.equal(default, unaligned)


@pytest.mark.parametrize("size", [(5, 5), (7, 7), (24, 24)])
def test_like_pillow_and_like_opencv(array, size):
    pillow = Image.fromarray(array)
    for mode, ours, theirs in (
        ("bilinear", Image.BILINEAR, cv2.INTER_LINEAR),
        ("bicubic", Image.BICUBIC, cv2.INTER_CUBIC),
    ):
        smooth = resized(array, size, mode, antialias=True)
        plain = resized(array, size, mode)
        np.testing.assert_allclose(smooth, pillow.resize(size, ours), atol=1e-5)
        opencv = cv2.resize(array, size, interpolation=theirs)
        np.testing.assert_allclose(plain, opencv, atol=1e-5)
        alike = np.allclose(smooth, plain, atol=1e-5)
        assert alike == (mode == "bilinear" and size == (24, 24))
    exact, nearest = (resized(array, size, m) for m in ("nearest-exact", "nearest"))
    np.testing.assert_array_equal(exact, pillow.resize(size, Image.NEAREST))
    opencv = cv2.resize(array, size, interpolation=cv2.INTER_NEAREST)
    np.testing.assert_array_equal(nearest, opencv)


def test_nearest_takes_the_first_of_each_block():
    row = np.arange(8, dtype=np.float32)[None].repeat(8, 0)
    assert resized(row, (4, 4), "nearest")[0].tolist() == [0, 2, 4, 6]
    row = np.arange(9, dtype=np.float32)[None].repeat(9, 0)
    assert resized(row, (3, 3), "nearest")[0].tolist() == [0, 3, 6]
    assert resized(row, (3, 3), "nearest-exact")[0].tolist() == [1, 4, 7]


def test_masks_in_torchvision():
    mask = torch.tensor([0, 0, 0, 4, 4, 4, 4, 4]).expand(1, 8, 8)
    resize = v2.Resize((4, 4))
    assert resize(mask).unique().tolist() == [0, 2, 4]
    wrapped = resize(tv_tensors.Mask(mask))
    assert wrapped.unique().tolist() == [0, 4]
    nearest = F.interpolate(mask[None].float(), size=(4, 4), mode="nearest")[0]
    assert torch.equal(wrapped.float(), nearest)
    exact = v2.Resize((3, 3), interpolation=v2.InterpolationMode.NEAREST_EXACT)
    assert exact(mask)[0, 0].tolist() == [0, 4, 4]
    image = torch.rand(3, 8, 8)
    torch.testing.assert_close(
        resize(image),
        F.interpolate(image[None], size=(4, 4), mode="bilinear", antialias=True)[0],
    )


def test_depth_at_an_edge_and_at_a_hole():
    depth = np.array([[1, 1, 1, 9, 9, 9], [1, 0, 1, 9, 9, 9]], np.float32)
    assert 5 in resized(depth, (2, 3), "bilinear")
    assert set(resized(depth, (4, 12), "nearest-exact").flat) == {0, 1, 9}
    assert (resized(depth, (4, 12), "bilinear") < 1).sum() > 4


def test_half_the_size_three_ways(array):
    x = torch.from_numpy(array)[None, None]
    pooled = F.avg_pool2d(x, 2)[0, 0].numpy()
    np.testing.assert_allclose(resized(array, (6, 6), "area"), pooled, rtol=1e-5)
    np.testing.assert_allclose(resized(array, (6, 6), "bilinear"), pooled, rtol=1e-5)


def test_inter_area_for_whole_factors_only(array):
    for size, alike in (((4, 4), True), ((3, 3), True), ((5, 5), False)):
        opencv = cv2.resize(array, size, interpolation=cv2.INTER_AREA)
        assert np.allclose(resized(array, size, "area"), opencv, atol=1e-5) == alike


def test_scores_make_smoother_borders_than_classes():
    def disc(n: int) -> torch.Tensor:  # how far inside, in shares of the image
        at = (torch.arange(n) + 0.5) / n - 0.5
        return 0.35 - torch.hypot(at[:, None], at)

    inside, truth = disc(16), disc(128) > 0
    scores = torch.stack([-inside, inside])[None]
    smooth = F.interpolate(scores, size=(128, 128), mode="bilinear").argmax(1)[0]
    classes = scores.argmax(1, keepdim=True).float()
    rough = F.interpolate(classes, size=(128, 128), mode="nearest-exact")[0, 0]
    wrong, more = ((m.bool() != truth).sum() for m in (smooth, rough))
    assert wrong < more / 3


def test_soft_labels_still_sum_to_one():
    soft = torch.softmax(torch.randn(2, 5, 8, 8), 1)
    for mode in ("bilinear", "area"):
        for size in ((3, 3), (20, 20)):
            total = F.interpolate(soft, size=size, mode=mode).sum(1)
            torch.testing.assert_close(total, torch.ones_like(total))


def test_the_messages():
    image, mask = torch.rand(2, 3, 8, 8), torch.zeros(2, 1, 8, 8, dtype=torch.long)
    with raises_as_documented(PAGE, 'NotImplementedError: "upsample_bilinear2d'):
        F.interpolate(mask, size=(4, 4), mode="bilinear")
    with raises_as_documented(PAGE, "ValueError: Anti-alias option"):
        F.interpolate(image, size=(4, 4), mode="area", antialias=True)
    bilinear = v2.InterpolationMode.BILINEAR
    with raises_as_documented(PAGE, "NotImplementedError: Input Error: Only 3D"):
        F.interpolate(image, size=(4, 4), mode=bilinear)
    assert F.interpolate(image, size=(4, 4), mode=bilinear.value).shape[2:] == (4, 4)
    with raises_as_documented(PAGE, "ValueError: Invalid interpolation mode"):
        v2.functional.resize(image, [4, 4], interpolation="area")


def test_counts_odd_sizes_and_volumes():
    people = torch.rand(1, 1, 12, 8)
    means = F.interpolate(people, size=(3, 2), mode="area")
    assert 16 * means.sum().item() == pytest.approx(people.sum().item(), rel=1e-5)
    odd = torch.arange(25.0).reshape(1, 1, 5, 5)
    pooled = F.avg_pool2d(odd, 2)
    for mode in ("area", "bilinear"):
        assert not torch.equal(F.interpolate(odd, size=(2, 2), mode=mode), pooled)
    volume = torch.arange(64.0).reshape(1, 1, 4, 4, 4)
    means = volume.reshape(2, 2, 2, 2, 2, 2).mean((1, 3, 5))
    for mode in ("trilinear", "area"):
        found = F.interpolate(volume, scale_factor=0.5, mode=mode)
        torch.testing.assert_close(found[0, 0], means)
    found = F.interpolate(volume, scale_factor=0.5, mode="nearest-exact")
    assert torch.equal(found, volume[..., 1::2, 1::2, 1::2])
    with raises_as_documented(PAGE, "ValueError: Anti-alias option"):
        F.interpolate(volume, scale_factor=0.5, mode="trilinear", antialias=True)
