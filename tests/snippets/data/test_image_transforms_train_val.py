"""image-transforms-train-val: against Pillow, NumPy and torchvision's presets."""

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, Subset, random_split
from torchvision.models import ResNet18_Weights
from torchvision.transforms import v2

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("data/image_transforms_train_val.py")
image_transforms = snippet.image_transforms
PAGE = "data/image-transforms-train-val"
MEAN = np.array([0.485, 0.456, 0.406])
STD = np.array([0.229, 0.224, 0.225])


def noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    values = np.random.default_rng(0).integers(256, size=(height, width, 3))
    return Image.fromarray(values.astype(np.uint8)).convert(mode)


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "CMYK"])
@pytest.mark.parametrize("size", [(400, 300), (60, 90)], ids=str)
def test_every_image_gets_the_same_shape(mode, size):
    for transform in image_transforms():
        out = transform(noise(*size, mode))
        assert out.shape == (3, 224, 224)
        assert out.dtype == torch.float32


def test_size():
    for transform in image_transforms(64):
        assert transform(noise(100, 80)).shape == (3, 64, 64)


def test_one_colour_against_numpy():
    colour = np.array([10, 200, 255])
    image = Image.new("RGB", (300, 260), tuple(colour.tolist()))
    expected = (colour / 255 - MEAN) / STD
    for transform in image_transforms():
        out = transform(image)
        for c in range(3):
            torch.testing.assert_close(
                out[c].data, torch.full((224, 224), expected[c], dtype=torch.float32)
            )


def test_validation_is_what_torchvision_validates_with():
    image = noise(400, 300)
    _, val = image_transforms()
    preset = ResNet18_Weights.DEFAULT.transforms()
    # The preset resizes the Pillow image; levels may differ by rounding.
    gap = (val(image) - preset(image)).abs().max()
    assert gap < 1.5 / 255 / STD.min()


@pytest.mark.parametrize(("size", "resized"), [(224, 256), (7, 8), (32, 37)])
def test_validation_keeps_the_middle(size, resized):
    # Nothing is resampled if the short side has the resized length already.
    image = noise(resized + 10, resized)
    top, left = round((resized - size) / 2), round((resized + 10 - size) / 2)
    middle = np.asarray(image)[top : top + size, left : left + size] / 255
    expected = torch.from_numpy((middle - MEAN) / STD).permute(2, 0, 1).float()
    _, val = image_transforms(size)
    torch.testing.assert_close(val(image).data, expected)


def test_training_crops_and_flips_at_random():
    torch.manual_seed(0)
    train, _ = image_transforms(8)
    # Brightness grows to the right, a little; where it falls, it was flipped.
    ramp = np.arange(64, dtype=np.uint8)[None, :, None].repeat(64, 0).repeat(3, 2)
    image = Image.fromarray(ramp)
    outs = torch.stack([train(image).data for _ in range(400)])
    rises = (outs[:, 0, 0, -1] > outs[:, 0, 0, 0]).float().mean().item()
    assert rises == pytest.approx(0.5, abs=0.1)
    span = (outs[:, 0, 0, -1] - outs[:, 0, 0, 0]).abs()
    assert span.unique().numel() > 20  # crops of many widths
    assert v2.RandomResizedCrop(8).scale == (0.08, 1.0)


def test_validation_is_not_random():
    _, val = image_transforms()
    image = noise(300, 300)
    before = torch.get_rng_state()
    assert torch.equal(val(image), val(image))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_batch_is_a_plain_tensor():
    train, _ = image_transforms(16)
    images = [train(noise(20 + i, 30)) for i in range(3)]
    batch = next(iter(DataLoader(images, batch_size=3)))
    assert type(batch) is torch.Tensor
    assert batch.shape == (3, 3, 16, 16)


def test_the_documented_errors():
    normalize = v2.Normalize(snippet.IMAGENET_MEAN, snippet.IMAGENET_STD)
    image = noise(16, 16)
    with raises_as_documented(PAGE):
        normalize(image)
    with raises_as_documented(PAGE):
        normalize(v2.ToImage()(image))
    with raises_as_documented(PAGE):
        v2.ToTensor()  # an error here, because tests turn warnings into errors
    with raises_as_documented(PAGE):
        normalize(torch.zeros(4, 8, 8))
    resize = v2.Compose([v2.ToImage(), v2.Resize(8)])
    with raises_as_documented(PAGE):
        list(DataLoader([resize(noise(32, 16)), resize(noise(24, 16))], 2))
    both = v2.Compose([v2.ToImage(), v2.Resize((8, 8))])
    assert next(iter(DataLoader([both(noise(32, 16)), both(noise(24, 16))], 2))).shape


def test_without_scale_white_is_over_1100():
    normalize = v2.Normalize(snippet.IMAGENET_MEAN, snippet.IMAGENET_STD)
    unscaled = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32), normalize])
    assert unscaled(Image.new("RGB", (2, 2), "white")).min() > 1100


def test_rgb_converts_images_but_only_grey_tensors():
    assert v2.RGB()(noise(4, 4, "RGBA")).mode == "RGB"
    assert v2.RGB()(torch.zeros(1, 4, 4)).shape == (3, 4, 4)
    assert v2.RGB()(torch.zeros(4, 4, 4)).shape == (4, 4, 4)


class Images(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.transform(index)


def test_split_parts_share_one_transform():
    data = Images("train {}".format)
    parts = random_split(data, [2, 2])
    assert parts[0].dataset is parts[1].dataset
    apart = Subset(data, [0, 1]), Subset(Images("val {}".format), [2, 3])
    assert [*apart[0], *apart[1]] == ["train 0", "train 1", "val 2", "val 3"]


def test_variants():
    small = v2.RandomCrop(32, padding=4)
    assert small(torch.zeros(3, 32, 32)).shape == (3, 32, 32)
    levels = v2.ToImage()(noise(16, 16))
    assert v2.TrivialAugmentWide()(levels).dtype == torch.uint8
    assert v2.RandomErasing()(torch.zeros(3, 8, 8)).shape == (3, 8, 8)
