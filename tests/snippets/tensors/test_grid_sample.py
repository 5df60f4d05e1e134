"""grid-sample: against SciPy, torchvision, gradcheck and hand-worked pixels."""

import math
import warnings

import cv2
import numpy as np
import pytest
import torch
from scipy import ndimage
from torch.nn import functional as F
from torchvision.transforms import v2

from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/grid-sample"
snippet = load_snippet("tensors/grid_sample.py")
rng = np.random.default_rng(0)
photo = rng.random((6, 9))
x = torch.from_numpy(photo)[None, None]  # float64 (1, 1, 6, 9)
IDENTITY = torch.eye(2, 3, dtype=torch.float64)[None]


def scipy_affine(image, degrees, zoom, shift, mode="grid-constant"):
    """Rotate, zoom and shift in pixels (row, column) with SciPy."""
    a = math.radians(degrees)
    # Counterclockwise on the screen, where y points down: (row, column).
    forward = zoom * np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
    inverse = np.linalg.inv(forward)
    center = (np.array(image.shape) - 1) / 2
    offset = center - inverse @ (center + np.array(shift)[::-1])
    return ndimage.affine_transform(image, inverse, offset, order=1, mode=mode)


@pytest.mark.parametrize(
    ("degrees", "zoom", "shift"),
    [(30, 1, (0, 0)), (-75, 0.6, (2, -1)), (0, 2, (0, 0)), (200, 1.7, (-1.3, 0.4))],
)
def test_affine_is_that_of_scipy(degrees, zoom, shift):
    out = snippet.affine(
        x,
        torch.tensor([degrees], dtype=torch.float64),
        torch.tensor([zoom], dtype=torch.float64),
        torch.tensor([shift], dtype=torch.float64),
    )
    expected = scipy_affine(photo, degrees, zoom, shift)
    np.testing.assert_allclose(out[0, 0].numpy(), expected, atol=1e-12)


def test_each_image_has_its_own_angle_and_the_rest_has_defaults():
    degrees = torch.tensor([0.0, 90.0, -40.0], dtype=torch.float64)
    out = snippet.affine(x.expand(3, 2, 6, 9), degrees)
    assert out.shape == (3, 2, 6, 9)
    for image, angle in zip(out, degrees.tolist(), strict=True):
        expected = scipy_affine(photo, angle, 1, (0, 0))
        for channel in image:
            np.testing.assert_allclose(channel.numpy(), expected, atol=1e-12)


def test_counterclockwise_as_torchvision():
    image = x.float()
    out = snippet.affine(image, torch.tensor([33.0]))
    bilinear = v2.InterpolationMode.BILINEAR
    # Along the border torchvision fills the corners after the sampling.
    expected = v2.functional.rotate(image, 33.0, interpolation=bilinear)
    inner = snippet.affine(torch.ones_like(image), torch.tensor([33.0])) > 0.999
    assert inner.sum() > 25
    torch.testing.assert_close(out[inner], expected[inner], atol=1e-4, rtol=0)


def test_warp_is_map_coordinates():
    flow = torch.from_numpy(rng.normal(size=(2, 2, 6, 9)) * 3)
    out = snippet.warp(x.expand(2, 1, 6, 9), flow)
    i, j = np.mgrid[:6, :9]
    for image, (dx, dy) in zip(out, flow.numpy(), strict=True):
        at = [i + dy, j + dx]
        expected = ndimage.map_coordinates(photo, at, order=1, mode="grid-constant")
        np.testing.assert_allclose(image[0].numpy(), expected, atol=1e-12)
    flow = torch.tensor([2.0, 1.0]).view(1, 2, 1, 1).expand(1, 2, 6, 9)
    moved = snippet.warp(x.float(), flow)
    torch.testing.assert_close(moved[..., :-1, :-2], x[..., 1:, 2:].float())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_places_are_exact_for_a_flow_in_half_precision(dtype):
    """1999 is no number of bfloat16, and 2 * 1999 + 1 none of float16."""
    image = torch.from_numpy(rng.random((1, 1, 2, 2000))).float()
    flow = torch.zeros(1, 2, 2, 2000, dtype=dtype)
    torch.testing.assert_close(snippet.warp(image, flow), image, atol=1e-3, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_an_image_keeps_its_dtype(dtype):
    image, flow = torch.rand(2, 3, 5, 7).to(dtype), torch.ones(2, 2, 5, 7)
    for kind in {dtype, torch.float32}:
        moved = snippet.warp(image, flow.to(kind))
        assert moved.dtype == dtype
        expected = F.pad(image[..., 1:, 1:], (0, 1, 0, 1))
        torch.testing.assert_close(moved, expected, atol=1e-2, rtol=0)


def test_autocast_blurs_the_grid():
    image, degrees = torch.rand(1, 1, 128, 128), torch.tensor([30.0])
    expected = snippet.affine(image, degrees)
    with torch.autocast("cpu", torch.bfloat16):
        blurred = snippet.affine(image, degrees)
        with torch.autocast(image.device.type, enabled=False):
            exact = snippet.affine(image, degrees)
    assert (blurred - expected).abs().max() > 0.05
    torch.testing.assert_close(exact, expected)


def test_right_angles_and_nothing_cut_off():
    turned = torch.rot90(x, 1, (-2, -1))
    np.testing.assert_array_equal(turned[0, 0].numpy(), np.rot90(photo))
    smooth = v2.InterpolationMode.BILINEAR
    expanded = v2.functional.rotate(x, 90, smooth, expand=True)
    torch.testing.assert_close(expanded, turned)


def test_gradients():
    image = x[..., :3, :4].clone().requires_grad_()
    values = [
        torch.tensor(v, dtype=torch.float64) for v in ([17.0], [1.2], [[0.3, 0.4]])
    ]
    for value in values:
        value.requires_grad_()
    assert torch.autograd.gradcheck(snippet.affine, (image, *values))
    flow = torch.from_numpy(rng.uniform(0.1, 0.4, (1, 2, 3, 4))).requires_grad_()
    assert torch.autograd.gradcheck(snippet.warp, (image, flow))


def test_theta_maps_output_to_input():
    forward = torch.eye(3, dtype=torch.float64)[None].clone()
    forward[:, 0, 2] = 2 * 3 / 9  # 3 of 9 pixels to the right
    theta = torch.linalg.inv(forward)[:, :2]
    grid = F.affine_grid(theta, x.shape, align_corners=False)
    right = F.grid_sample(x, grid, align_corners=False)
    torch.testing.assert_close(right[..., 3:], x[..., :-3])
    assert right[..., :3].abs().max() < 1e-12
    grid = F.affine_grid(2 * IDENTITY, x.shape, align_corners=False)
    half = F.grid_sample(x, grid, align_corners=False)
    expected = scipy_affine(photo, 0, 0.5, (0, 0))
    np.testing.assert_allclose(half[0, 0].numpy(), expected, atol=1e-12)


def test_a_plain_rotation_matrix_shears():
    a = math.radians(30)
    c, s = math.cos(a), math.sin(a)
    H, W = x.shape[-2:]
    for theta, right in (
        ([[c, -s, 0], [s, c, 0]], False),
        ([[c, -s * H / W, 0], [s * W / H, c, 0]], True),
    ):
        theta = torch.tensor([theta], dtype=torch.float64)
        grid = F.affine_grid(theta, x.shape, align_corners=False)
        out = F.grid_sample(x, grid, align_corners=False)[0, 0].numpy()
        assert np.allclose(out, scipy_affine(photo, 30, 1, (0, 0))) == right


def test_align_corners_has_two_formulas():
    i, j = torch.meshgrid(torch.arange(6), torch.arange(9), indexing="ij")
    false = torch.stack([(2 * j + 1) / 9 - 1, (2 * i + 1) / 6 - 1], -1)[None].double()
    true = torch.stack([2 * j / (9 - 1) - 1, 2 * i / (6 - 1) - 1], -1)[None].double()
    for grid, corners in ((false, False), (true, True)):
        made = F.affine_grid(IDENTITY, x.shape, align_corners=corners)
        torch.testing.assert_close(made, grid, atol=1e-6, rtol=0)
        same = F.grid_sample(x, grid, align_corners=corners)
        torch.testing.assert_close(same, x, atol=1e-5, rtol=0)
        other = F.grid_sample(x, grid, align_corners=not corners)
        assert (other - x).abs().max() > 0.1


def test_the_warning():
    for call in (
        lambda: F.grid_sample(x, torch.zeros(1, 1, 1, 2).double()),
        lambda: F.affine_grid(IDENTITY, x.shape),
    ):
        with (
            warnings.catch_warnings(),
            raises_as_documented(PAGE, "UserWarning: Default grid_sample"),
        ):
            warnings.simplefilter("error")
            call()


@pytest.mark.parametrize(
    ("padding", "mode"), [("border", "nearest"), ("reflection", "reflect")]
)
def test_padding(padding, mode):
    grid = F.affine_grid(1.6 * IDENTITY, x.shape, align_corners=False)
    out = F.grid_sample(x, grid, padding_mode=padding, align_corners=False)
    expected = scipy_affine(photo, 0, 1 / 1.6, (0, 0), mode)
    np.testing.assert_allclose(out[0, 0].numpy(), expected, atol=1e-12)


def test_nearest_makes_no_new_classes_and_no_gradient():
    mask = torch.tensor([[0, 7, 7, 0], [7, 0, 0, 3]])[None]
    grid = F.affine_grid(IDENTITY.float() * 0.7, (1, 1, 2, 4), align_corners=False)
    grid.requires_grad_()
    out = F.grid_sample(
        mask[:, None].float(), grid, mode="nearest", align_corners=False
    )
    assert set(out.unique().tolist()) <= {0, 3, 7}
    out.sum().backward()
    assert not grid.grad.any()


def test_theta_of_the_matrix_of_opencv():
    H, W = 20, 30
    image = ndimage.gaussian_filter(np.random.default_rng(0).random((H, W)), 2)
    matrix = cv2.getRotationMatrix2D((15, 10), 25, 1.2)
    expected = cv2.warpAffine(image, matrix, (W, H))
    m = torch.cat([torch.from_numpy(matrix).float(), torch.tensor([[0.0, 0, 1]])])
    n = torch.tensor([[2 / (W - 1), 0, -1], [0, 2 / (H - 1), -1], [0, 0, 1]])
    theta = (n @ torch.linalg.inv(n @ m))[:2]
    x = torch.from_numpy(image)[None, None].float()
    grid = F.affine_grid(theta[None], x.shape, align_corners=True)
    found = F.grid_sample(x, grid, align_corners=True)
    np.testing.assert_allclose(found[0, 0], expected, atol=0.02)  # cv2 rounds places


def test_messages():
    grid = F.affine_grid(IDENTITY, x.shape, align_corners=False)
    batch = x.expand(2, 1, 6, 9)
    sample = {"align_corners": False}
    with raises_as_documented(
        PAGE, "RuntimeError: grid_sampler(): expected grid to have"
    ):
        F.grid_sample(x, grid.permute(0, 3, 1, 2), **sample)
    assert F.grid_sample(batch, grid.expand(len(batch), -1, -1, -1), **sample).shape
    for image, places in ((batch, grid), (x[0].expand(3, 6, 9), grid)):
        with raises_as_documented(
            PAGE, "RuntimeError: grid_sampler(): expected grid and"
        ):
            F.grid_sample(image, places if image.dim() == 4 else places[0], **sample)
    with raises_as_documented(PAGE, 'NotImplementedError: "grid_sampler_2d'):
        F.grid_sample(x.byte(), grid.float(), **sample)
    with raises_as_documented(PAGE, "RuntimeError: expected scalar type Float"):
        F.grid_sample(x.float(), grid, **sample)
    for theta in (IDENTITY[0], torch.eye(3)[None]):
        with raises_as_documented(PAGE, "ValueError: Expected a batch of 2D"):
            F.affine_grid(theta, x.shape, **sample)
