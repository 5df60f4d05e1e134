"""conv3d-volumes: against SciPy, index by index."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy import ndimage
from torch import nn
from torch.nn import functional as F
from torchvision.models.video import r3d_18

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/conv3d-volumes"
ANSWER = recipes()["conv3d-volumes"].answer


@pytest.mark.parametrize("depth", [1, 6, 7])
def test_the_answer_is_scipys(depth):
    slices = [torch.rand(8, 9) for _ in range(depth)]
    names = {"slices": slices}
    exec(ANSWER.text, names)
    volume, conv = names["volume"], names["conv"]
    assert volume.shape == (1, 1, depth, 8, 9)
    for d, image in enumerate(slices):
        assert torch.equal(volume[0, 0, d], image)

    array, weight = volume[0, 0].numpy(), conv.weight.detach().numpy()
    for o in range(16):
        full = ndimage.correlate(array, weight[o, 0], mode="constant")
        expected = full[::2, ::2, ::2] + conv.bias[o].item()
        found = names["features"][0, o].detach().numpy()
        np.testing.assert_allclose(found, expected, atol=1e-5)

    small = names["features"][0, 3].detach().double().numpy()
    sizes = zip(small.shape, array.shape, strict=True)
    places = [(np.arange(n) + 0.5) * s / n - 0.5 for s, n in sizes]
    grid = np.meshgrid(*places, indexing="ij")
    expected = ndimage.map_coordinates(small, grid, order=1, mode="nearest")
    found = names["same_size"][0, 3].detach().numpy()
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_demonstration():
    found = load_snippet("models/conv3d_volumes.py")
    assert torch.equal(found.volume[0, 0, 24], found.slices[24])
    assert found.same_size.shape == (1, 16, 25, 64, 64)


def test_from_what_there_is():
    array = np.random.default_rng(0).integers(0, 4000, (3, 4, 5)).astype(np.uint16)
    volume = torch.from_numpy(array).float()[None, None]
    assert volume[0, 0, 2, 1, 4] == array[2, 1, 4]
    xyz = array.transpose(2, 1, 0).astype(np.float64)  # as nibabel has it
    found = torch.from_numpy(xyz).float().permute(2, 1, 0)[None, None]
    assert torch.equal(found, volume)
    heights = [7.5, 2.5, 5.0]  # of the slices, as their files are named
    slices = [
        SimpleNamespace(
            pixel_array=array[[2, 0, 1][i]],
            RescaleSlope=2.0,
            RescaleIntercept=-1024.0,
            ImagePositionPatient=[0.0, 0.0, height],
        )
        for i, height in enumerate(heights)
    ]
    slices.sort(key=lambda s: s.ImagePositionPatient[2])
    parts = [s.pixel_array * s.RescaleSlope + s.RescaleIntercept for s in slices]
    found = torch.stack([torch.from_numpy(part).float() for part in parts])
    assert torch.equal(found[None, None], volume * 2 - 1024)
    batch = torch.rand(2, 3, 4, 5)
    assert torch.equal(batch[:, None][1, 0, 2], batch[1, 2])
    t1, t2 = torch.rand(2, 3, 4, 5)
    both = torch.stack([t1, t2])[None]
    assert torch.equal(both[0, 1], t2)
    assert nn.Conv3d(2, 6, 3, padding=1)(both).shape == (1, 6, 3, 4, 5)
    clip = torch.randint(256, (7, 4, 5, 3), dtype=torch.uint8)
    x = clip.permute(3, 0, 1, 2)[None].float() / 255
    assert x[0, 2, 6, 1, 4] == clip[6, 1, 4, 2].float() / 255
    clips = torch.rand(2, 7, 3, 4, 5)
    assert torch.equal(clips.transpose(1, 2)[1, :, 6], clips[1, 6])


def test_memory_of_a_feature_map():
    x = torch.empty(1, 32, 128, 128, 128, device="meta")
    assert x.numel() * x.element_size() == 256 * 2**20


def test_names_in_order():
    paths = [Path(f"scan/slice{i}.png") for i in range(1, 12)]
    assert [p.stem for p in sorted(paths)][1:3] == ["slice10", "slice11"]
    number = lambda p: int(p.stem.removeprefix("slice"))  # noqa: E731
    assert sorted(paths, key=number) == paths


def test_the_depth_stays():
    x = torch.rand(1, 4, 5, 8, 8)
    assert nn.MaxPool3d((1, 2, 2))(x).shape == (1, 4, 5, 4, 4)
    conv = nn.Conv3d(4, 6, (1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1))
    assert conv(x).shape == (1, 6, 5, 4, 4)


def test_one_millimetre_voxels():
    z = torch.arange(10.0) * 2.5  # the height of each slice, in mm
    volume = z[:, None, None].expand(1, 1, 10, 10, 10)
    new = F.interpolate(volume, scale_factor=(2.5, 0.7, 0.7), mode="trilinear")
    assert new.shape == (1, 1, 25, 7, 7)
    torch.testing.assert_close(new[0, 0, 2:-2, 0, 0].diff(), torch.ones(20))


def test_up_and_classify():
    x = torch.rand(1, 4, 5, 6, 7)
    assert nn.ConvTranspose3d(4, 2, 2, stride=2)(x).shape == (1, 2, 10, 12, 14)
    up = nn.Upsample(scale_factor=2, mode="trilinear")
    assert up(x).shape == (1, 4, 10, 12, 14)
    head = nn.Sequential(nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(4, 3))
    assert head(x).shape == (1, 3)
    model = r3d_18(weights=None, num_classes=3).eval()
    assert model(torch.rand(1, 3, 4, 16, 16)).shape == (1, 3)


def test_the_messages():
    conv = nn.Conv3d(1, 16, 3, padding=1)
    with raises_as_documented(PAGE, "RuntimeError: Expected 4D (unbatched)"):
        conv(torch.rand(24, 64, 64))
    with raises_as_documented(PAGE, "RuntimeError: Given groups=1"):
        conv(torch.rand(4, 24, 64, 64))
    with raises_as_documented(PAGE, "RuntimeError: Given input size"):
        F.max_pool3d(torch.rand(1, 1, 1, 64, 64), 2)
    x = torch.rand(1, 1, 4, 4, 4)
    with raises_as_documented(PAGE, "NotImplementedError: Got 5D input"):
        F.interpolate(x, scale_factor=2, mode="bilinear")
    with raises_as_documented(PAGE, "ValueError: Anti-alias option"):
        F.interpolate(x, scale_factor=0.5, mode="trilinear", antialias=True)
    F.interpolate(x, scale_factor=0.5, mode="area")
    logits, mask = torch.rand(1, 3, 4, 4, 4), torch.zeros(1, 1, 4, 4, 4)
    with raises_as_documented(PAGE, "RuntimeError: Expected target size"):
        F.cross_entropy(logits, mask.long())
    F.cross_entropy(logits, mask[:, 0].long())
    with raises_as_documented(PAGE, "RuntimeError: Input type (short int)"):
        conv(x.short())
    with raises_as_documented(PAGE, "ValueError: expected 4D input"):
        nn.BatchNorm2d(1)(x)
    nn.BatchNorm3d(1)(x)
