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
    """The mean position under a softmax of 20 times the map over its peak, in loops."""
    points = np.zeros((*maps.shape[:2], 2))
    for n, k in np.ndindex(*maps.shape[:2]):
        m = maps[n, k].astype(np.float64)
        share = np.exp(20 * m / m.max())
        i, j = np.indices(m.shape)
        x, y = (j * share).sum() / share.sum(), (i * share).sum() / share.sum()
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
    assert decode(maps)[1].tolist() == [[1]]


@pytest.mark.parametrize("stride", [1, 4])
def test_decode_is_that_of_a_loop(stride):
    maps = torch.randn(4, 3, 5, 7, generator=torch.Generator().manual_seed(0))
    points, score = decode(maps, stride)
    expected = numpy_decode(maps.numpy(), stride)
    np.testing.assert_allclose(points.numpy(), expected, rtol=1e-4)
    assert torch.equal(score, maps.amax((2, 3)))


# What readers have: sizes other than 16 x 16, and peaks that are low and noisy.
@pytest.mark.parametrize("size", [(16, 16), (64, 48), (64, 64)], ids=str)
@pytest.mark.parametrize(("peak", "noise"), [(1, 0), (1, 0.05), (0.3, 0.03)])
def test_decode_is_closer_than_argmax(size, peak, noise):
    points = torch.from_numpy(random_points(100, 3, 4 * size[0] - 40, 4 * size[1] - 40))
    points = points + 20
    torch.manual_seed(0)
    maps = make_heatmaps(points, size) * peak
    maps = maps + noise * torch.randn_like(maps)
    error = (decode(maps)[0] - points).norm(dim=2).mean()
    rough = maps.flatten(2).argmax(2)
    rough = torch.stack([rough % size[1], rough // size[1]], 2)
    rough = ((rough + 0.5) * 4 - 0.5 - points).norm(dim=2).mean()
    assert error < 0.85 * rough
    assert error < (2 if noise else 0.3)


def test_what_the_page_says_of_low_peaks():
    points = torch.from_numpy(random_points(100, 3, 216, 152)) + 20
    torch.manual_seed(0)
    maps = make_heatmaps(points, (64, 48)) * 0.3
    maps = maps + 0.03 * torch.randn_like(maps)

    def off(maps, factor):
        p = (factor * maps).flatten(2).softmax(2).view_as(maps)
        x = (p.sum(2) * torch.arange(48)).sum(2)
        y = (p.sum(3) * torch.arange(64)).sum(2)
        found = (torch.stack([x, y], 2) + 0.5) * 4 - 0.5
        return (found - points).norm(dim=2).mean().item()

    assert off(maps, 20) > 40
    by_peak = maps / maps.amax((2, 3), keepdim=True)
    assert off(by_peak, 20) == pytest.approx(1.5, abs=0.5)
    assert off(by_peak, 10) > 4


def test_decode_in_bfloat16_and_black():
    points = torch.from_numpy(random_points(20)).float() * 0.6 + 10
    maps = make_heatmaps(points, (16, 24))
    found, score = decode(maps.bfloat16())
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, decode(maps)[0], atol=0.5, rtol=0.0)
    found, score = decode(torch.zeros(1, 1, 16, 24))
    assert score == 0
    assert found.isfinite().all()


def test_decode_has_a_gradient():
    maps = make_heatmaps(torch.tensor([[[20.0, 14.0]]]), (12, 16)).requires_grad_()
    decode(maps)[0].sum().backward()
    assert maps.grad.abs().sum() > 0


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
