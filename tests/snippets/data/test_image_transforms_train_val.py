"""image-transforms-train-val: against Pillow, NumPy and torchvision's presets."""

import cv2
import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, Subset, random_split
from torchvision import tv_tensors
from torchvision.datasets import ImageFolder
from torchvision.models import ResNet18_Weights
from torchvision.transforms import RandomCrop, RandomHorizontalFlip, Resize, v2

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("data/image_transforms_train_val.py")
train, val = snippet.train_transform, snippet.val_transform
normalize = snippet.to_float[1]
PAGE = "data/image-transforms-train-val"
MEAN = np.array([0.485, 0.456, 0.406])
STD = np.array([0.229, 0.224, 0.225])


def noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    values = np.random.default_rng(0).integers(256, size=(height, width, 3))
    return Image.fromarray(values.astype(np.uint8)).convert(mode)


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "CMYK"])
@pytest.mark.parametrize("size", [(400, 300), (60, 90)], ids=str)
@pytest.mark.parametrize("transform", [train, val], ids=["train", "val"])
def test_every_image_gets_the_same_shape(mode, size, transform):
    out = transform(noise(*size, mode))
    assert out.shape == (3, 224, 224)
    assert out.dtype == torch.float32


@pytest.mark.parametrize("transform", [train, val], ids=["train", "val"])
def test_one_colour_against_numpy(transform):
    colour = np.array([10, 200, 255])
    image = Image.new("RGB", (300, 260), tuple(colour.tolist()))
    expected = torch.from_numpy((colour / 255 - MEAN) / STD).float()
    out = transform(image).as_subclass(torch.Tensor)
    torch.testing.assert_close(out, expected[:, None, None].expand(3, 224, 224))


def test_validation_is_what_torchvision_validates_with():
    image = noise(400, 300)
    preset = ResNet18_Weights.DEFAULT.transforms()
    # The preset resizes the Pillow image; levels may differ by rounding.
    gap = (val(image) - preset(image)).abs().max()
    assert gap < 1.5 / 255 / STD.min()


def test_validation_keeps_the_middle():
    # Nothing is resampled if the short side has the resized length already.
    image = noise(300, 256)
    middle = np.asarray(image)[16 : 16 + 224, 38 : 38 + 224] / 255
    expected = torch.from_numpy((middle - MEAN) / STD).permute(2, 0, 1).float()
    torch.testing.assert_close(val(image).as_subclass(torch.Tensor), expected)


def test_training_crops_and_flips_at_random():
    torch.manual_seed(0)
    # Brightness grows to the right, a little; where it falls, it was flipped.
    ramp = np.arange(64, dtype=np.uint8)[None, :, None].repeat(64, 0).repeat(3, 2)
    image = Image.fromarray(ramp)
    outs = torch.stack([train(image)[:, 0] for _ in range(40)])
    rises = (outs[:, 0, -1] > outs[:, 0, 0]).float().mean().item()
    assert rises == pytest.approx(0.5, abs=0.25)
    span = (outs[:, 0, -1] - outs[:, 0, 0]).abs()
    assert span.unique().numel() > 10  # crops of many widths
    assert v2.RandomResizedCrop(8).scale == (0.08, 1.0)


def test_validation_is_not_random():
    image = noise(300, 300)
    before = torch.get_rng_state()
    assert torch.equal(val(image), val(image))
    assert torch.equal(torch.get_rng_state(), before)


def test_sizes_change_while_the_image_is_uint8():
    seen = []

    class Spy(v2.Transform):
        def transform(self, inpt, params):
            seen.append((inpt.dtype, tuple(inpt.shape)))
            return inpt

    for transform in (train, val):
        *before, crop_or_flip, to_dtype, last = transform.transforms
        v2.Compose([*before, Spy(), crop_or_flip, Spy(), to_dtype, last])(noise(99, 80))
    assert {dtype for dtype, _ in seen} == {torch.uint8}
    assert [shape for _, shape in seen] == [
        (3, 224, 224),  # cropped, about to be flipped
        (3, 224, 224),
        (3, 256, 316),  # resized, about to be cropped
        (3, 224, 224),
    ]


def write_images(root, count):
    for name in ("cat", "dog"):
        (root / name).mkdir(parents=True)
        for i in range(count):
            noise(20 + i, 30).save(root / name / f"{i}.png")


def test_a_folder_of_images_through_a_loader(tmp_path):
    write_images(tmp_path / "train", 2)
    train_set = ImageFolder(tmp_path / "train", transform=train)
    loader = DataLoader(train_set, batch_size=4, shuffle=True)
    ((images, target),) = loader
    assert type(images) is torch.Tensor
    assert images.shape == (4, 3, 224, 224)
    assert sorted(target.tolist()) == [0, 0, 1, 1]
    val_set = ImageFolder(tmp_path / "train", transform=val)
    assert torch.equal(val_set[0][0], val_set[0][0])
    assert not torch.equal(train_set[0][0], train_set[0][0])


def test_the_documented_errors():
    image = noise(16, 16)
    with raises_as_documented(PAGE, "TypeError: Normalize() does not"):
        normalize(image)
    with raises_as_documented(PAGE, "TypeError: Input tensor should"):
        normalize(v2.ToImage()(image))
    with raises_as_documented(PAGE, "UserWarning: The transform `ToTensor()`"):
        v2.ToTensor()  # an error here, because tests turn warnings into errors
    with raises_as_documented(PAGE, "RuntimeError: The size of"):
        normalize(torch.zeros(4, 8, 8))
    resize = v2.Compose([v2.ToImage(), v2.Resize(8)])
    with raises_as_documented(PAGE, "RuntimeError: stack expects each"):
        list(DataLoader([resize(noise(32, 16)), resize(noise(24, 16))], 2))
    both = v2.Compose([v2.ToImage(), v2.Resize((8, 8))])
    assert next(iter(DataLoader([both(noise(32, 16)), both(noise(24, 16))], 2))).shape


def test_without_scale_white_is_over_1100():
    unscaled = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32), normalize])
    assert unscaled(Image.new("RGB", (2, 2), "white")).min() > 1100


def test_rgb_converts_images_but_only_grey_tensors():
    assert v2.RGB()(noise(4, 4, "RGBA")).mode == "RGB"
    assert v2.RGB()(torch.zeros(1, 4, 4)).shape == (3, 4, 4)
    assert v2.RGB()(torch.zeros(4, 4, 4)).shape == (4, 4, 4)


def test_an_opencv_image_is_turned_to_rgb_first():
    blue = np.zeros((256, 256, 3), np.uint8)
    blue[..., 0] = 255  # as cv2.imread gives it: BGR
    out = val(cv2.cvtColor(blue, cv2.COLOR_BGR2RGB))[:, 0, 0]
    expected = (np.array([0, 0, 1]) - MEAN) / STD
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5)


def test_a_16_bit_image_is_white_unless_it_is_divided(tmp_path):
    levels = np.arange(2000, 65536, dtype=np.uint16)[: 252 * 252].reshape(252, 252)
    (tmp_path / "x").mkdir()
    Image.fromarray(levels).save(tmp_path / "x/0.png")
    image = Image.open(tmp_path / "x/0.png")
    white = (1 - MEAN) / STD
    for clipped in (val(image), ImageFolder(tmp_path, transform=val)[0][0]):
        np.testing.assert_allclose(clipped.amin((1, 2)), white, rtol=1e-5)
    out = val(np.float32(image) / 65535)
    middle = (levels.mean() / 65535 - MEAN) / STD
    np.testing.assert_allclose(out.mean((1, 2)), middle, atol=0.02)
    assert (out[:, -1, 0] > out[:, 0, 0]).all()


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


def test_other_augmentations():
    small = v2.RandomCrop(32, padding=4)
    assert small(torch.zeros(3, 32, 32)).shape == (3, 32, 32)
    stronger = v2.Compose(
        [
            *snippet.to_image,
            v2.TrivialAugmentWide(),
            *snippet.augment,
            *snippet.to_float,
            v2.RandomErasing(),
        ]
    )
    assert stronger(noise(40, 30)).shape == (3, 224, 224)
    milder = v2.RandomResizedCrop(8, scale=(0.5, 1))
    for _ in range(20):
        _, _, height, width = milder.make_params([torch.zeros(3, 40, 40)]).values()
        assert height * width > 0.45 * 1600


def test_boxes_and_masks_follow_the_image():
    # A white rectangle, its box and its mask, must stay together.
    image, inside = Image.new("RGB", (300, 256)), (slice(50, 90), slice(100, 150))
    image.paste("white", (100, 50, 150, 90))
    mask = torch.zeros(256, 300, dtype=torch.uint8)
    mask[inside] = 1
    boxes = tv_tensors.BoundingBoxes(
        [[100, 50, 150, 90]], format="XYXY", canvas_size=(256, 300)
    )
    out, boxes, mask = val(image, boxes, tv_tensors.Mask(mask))
    assert boxes.tolist() == [[62, 34, 112, 74]]
    assert torch.equal((out[0] > 2), mask.bool())
    assert mask[34:74, 62:112].all()
    assert mask.sum() == 2000


def test_arrays_without_v2():
    array = np.array(noise(8, 8))
    with raises_as_documented(PAGE, "TypeError: img should be PIL Image."):
        RandomHorizontalFlip(p=1.0)(array)
    for old in RandomCrop(4), Resize(4):
        with raises_as_documented(PAGE, "TypeError: Unexpected type"):
            old(array)
    assert v2.Compose([v2.ToImage(), v2.Resize((4, 4))])(array).shape == (3, 4, 4)
