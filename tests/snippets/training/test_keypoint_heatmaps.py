"""keypoint-heatmaps: against loops in NumPy, hand-worked numbers, torchvision."""

import math

import numpy as np
import pytest
import torch
from torchvision import tv_tensors
from torchvision.transforms import v2

from tests.helpers import load_snippet

snippet = load_snippet("training/keypoint_heatmaps.py")
make_heatmaps, decode, hflip = snippet.make_heatmaps, snippet.decode, snippet.hflip


def random_points(n=20, k=3, h=48, w=64):
    rng = np.random.default_rng(0)
    return rng.uniform(0, [w - 1, h - 1], (n, k, 2))


def numpy_decode(maps, stride):
    """The loops of Simple Baselines: argmax, a quarter pixel inside the border."""
    points = np.zeros((*maps.shape[:2], 2))
    for n, k in np.ndindex(*maps.shape[:2]):
        m = maps[n, k]
        i, j = np.unravel_index(m.argmax(), m.shape)
        x, y = float(j), float(i)
        if 0 < j < m.shape[1] - 1:
            x += 0.25 * np.sign(m[i, j + 1] - m[i, j - 1])
        if 0 < i < m.shape[0] - 1:
            y += 0.25 * np.sign(m[i + 1, j] - m[i - 1, j])
        points[n, k] = (x + 0.5) * stride - 0.5, (y + 0.5) * stride - 0.5
    return points


@pytest.mark.parametrize(("stride", "sigma"), [(4, 2.0), (1, 3.0), (8, 1.0)])
def test_targets_are_those_of_a_loop(stride, sigma):
    points = random_points(2, 3)
    H, W = 48 // stride, 64 // stride
    maps = make_heatmaps(torch.from_numpy(points), (H, W), stride, sigma)
    assert maps.shape == (2, 3, H, W)
    for n, k, i, j in np.ndindex(2, 3, H, W):
        # The center of heatmap pixel j lies at this image pixel.
        dx = ((j + 0.5) * stride - 0.5 - points[n, k, 0]) / stride
        dy = ((i + 0.5) * stride - 0.5 - points[n, k, 1]) / stride
        expected = math.exp(-(dx**2 + dy**2) / (2 * sigma**2))
        assert abs(maps[n, k, i, j].item() - expected) < 1e-9


def test_by_hand_and_defaults():
    maps = make_heatmaps(torch.tensor([[[5.5, 9.5]]]), (4, 6))  # pixel (2, 1)
    assert maps[0, 0, 2, 1] == 1
    torch.testing.assert_close(maps[0, 0, 2, 3], torch.tensor(math.exp(-0.5)))
    torch.testing.assert_close(maps[0, 0, 0, 1], torch.tensor(math.exp(-0.5)))
    points, score = decode(maps)
    assert points.tolist() == [[[5.5, 9.5]]]
    assert score.tolist() == [[1]]


@pytest.mark.parametrize("stride", [1, 4])
def test_decode_is_that_of_a_loop(stride):
    maps = torch.randn(4, 3, 5, 7, generator=torch.Generator().manual_seed(0))
    points, score = decode(maps, stride)
    np.testing.assert_allclose(points.numpy(), numpy_decode(maps.numpy(), stride))
    assert torch.equal(score, maps.amax((2, 3)))


def test_round_trip_within_a_quarter_of_a_heatmap_pixel():
    points = torch.from_numpy(random_points(200) * 0.8 + 5)
    maps = make_heatmaps(points, (12, 16))
    error = (decode(maps)[0] - points).abs()
    assert 0.9 < error.max() <= 0.25 * 4  # instead of 0.5 * 4 without the step
    rough = maps.flatten(2).argmax(2)
    rough = (torch.stack([rough % 16, rough // 16], 2) + 0.5) * 4 - 0.5
    assert 1.8 < (rough - points).abs().max() <= 2


def test_a_different_way_back_shifts_by_one_and_a_half_pixels():
    x = torch.tensor([8.0, 20, 32])
    assert ((x / 4 + 0.5) * 4 - 0.5 - x).tolist() == [1.5, 1.5, 1.5]


def test_flip():
    torch.manual_seed(0)
    points = torch.tensor([[[10.0, 4], [6, 2], [15, 3]]])
    visible = torch.tensor([[True, False, True]])
    images = make_heatmaps(points, (16, 24), stride=1)
    flipped, moved, seen = hflip(images, points, visible)
    assert moved.tolist() == [[[13, 4], [8, 3], [17, 2]]]
    assert seen.tolist() == [[True, True, False]]
    np.testing.assert_array_equal(flipped.numpy(), images.numpy()[..., ::-1])
    # Targets of the moved points: those of the image, mirrored and swapped.
    mirrored = make_heatmaps(points, (4, 6)).flip(3)[:, snippet.FLIP]
    torch.testing.assert_close(make_heatmaps(moved, (4, 6)), mirrored)
    again = hflip(flipped, moved, seen)
    for a, b in zip(again, (images, points, visible), strict=True):
        assert torch.equal(a, b)


def test_torchvision_moves_and_does_not_swap():
    points = torch.tensor([[10.0, 4], [6, 2], [15, 3]])
    boxed = tv_tensors.KeyPoints(points, canvas_size=(16, 24))
    moved = v2.RandomHorizontalFlip(p=1)(boxed)
    assert moved.tolist() == [[13, 4], [17, 2], [8, 3]]


def test_everything_stays_on_the_device_of_the_points():
    points = torch.zeros(2, 3, 2, device="meta")
    maps = make_heatmaps(points, (12, 16))
    assert maps.device == points.device
    assert decode(maps)[0].device == points.device


def masked_loss(pred, target, visible):
    error = (pred - target).square().mean((2, 3)) * visible
    return error.sum() / visible.sum().clamp(min=1)


def test_the_loss_skips_points_without_a_label():
    torch.manual_seed(0)
    pred = torch.randn(2, 3, 4, 6, dtype=torch.float64, requires_grad=True)
    target = torch.rand(2, 3, 4, 6, dtype=torch.float64)
    visible = torch.tensor([[True, False, True], [False, False, True]])
    loss = masked_loss(pred, target, visible)
    p, t = pred.detach().numpy(), target.numpy()
    seen = [(0, 0), (0, 2), (1, 2)]
    expected = np.mean([np.mean((p[n, k] - t[n, k]) ** 2) for n, k in seen])
    assert abs(loss.item() - expected) < 1e-12
    loss.backward()
    assert torch.equal(pred.grad.abs().sum((2, 3)) > 0, visible)
    assert masked_loss(pred, target, torch.zeros(2, 3, dtype=torch.bool)) == 0


def test_missing_points():
    points = torch.tensor([[[float("nan"), 3.0], [9.0, 9.0]]])
    visible = torch.tensor([[False, True]])
    pred = torch.zeros(1, 2, 8, 8)
    loss = masked_loss(pred, make_heatmaps(points, (8, 8)), visible)
    assert loss.isnan()
    loss = masked_loss(pred, make_heatmaps(points.nan_to_num(), (8, 8)), visible)
    assert loss.isfinite()


def test_black_maps_have_a_small_loss():
    maps = make_heatmaps(torch.tensor([[[100.0, 120.0]]]), (64, 48))
    assert round(maps.square().mean().item(), 3) == 0.004


def test_soft_argmax():
    points = torch.tensor([[[20.0, 14.0]]])
    heatmaps = make_heatmaps(points, (12, 16)).requires_grad_()
    W = 16
    found = {}
    for beta in (1, 10, 100):
        p = heatmaps.flatten(2).mul(beta).softmax(2).view_as(heatmaps)
        x = (p.sum(2) * torch.arange(W)).sum(2)
        found[beta] = ((x + 0.5) * 4 - 0.5).item()
    assert abs(found[10] - 20) < 0.1
    assert abs(found[100] - 21.5) < 0.25  # that of the argmax, pixel 5
    assert abs(found[1] - 31.5) < abs(found[1] - 20)  # the center is at 31.5
    x.sum().backward()
    assert heatmaps.grad.abs().sum() > 0
