"""v2-transforms-masks-boxes: flips and crops by hand, what stays plain, bad input."""

import numpy as np
import pytest
import torch
import torchvision.transforms as v1
from PIL import Image
from torchvision import datasets
from torchvision import tv_tensors as tv
from torchvision.transforms import v2

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "data/v2-transforms-masks-boxes"
snippet = load_snippet("data/v2_transforms_masks_boxes.py")
image = tv.Image(torch.arange(40 * 60).view(1, 40, 60).expand(3, 40, 60) % 251)
xyxy = [[5, 10, 20, 25], [50, 0, 60, 8]]
labels = torch.tensor([4, 9])


def as_boxes(corners=xyxy, canvas_size=(40, 60)):
    return tv.BoundingBoxes(corners, format="XYXY", canvas_size=canvas_size)


def as_masks():
    masks = torch.zeros(2, 40, 60, dtype=torch.uint8)
    for mask, (x1, y1, x2, y2) in zip(masks, xyxy, strict=True):
        mask[y1:y2, x1:x2] = 1
    return masks


def test_the_snippet_loses_what_is_cut_off():
    target = snippet.target
    assert snippet.image.shape == (3, 64, 64)
    assert snippet.image.dtype == torch.float32
    assert 0.9 < snippet.image.max() <= 1
    assert target["boxes"].tolist() == [[20, 5, 60, 45]]  # whole, 10 and 15 off
    assert target["labels"].tolist() == [4]
    assert torch.equal(snippet.around, target["boxes"].float())
    assert target["masks"].sum() == 40 * 40
    assert snippet.masks.sum() == 40 * 40 + 10 * 10
    assert [type(step) for step in snippet.augment] == [
        v2.RandomHorizontalFlip,
        v2.RandomCrop,
    ]


def answer(pixels, corners):
    """The answer's lines, on an image of 80 x 90 and its boxes; the masks are empty."""
    n = len(corners)
    names = {"pixels": pixels, "xyxy": corners, "labels": torch.arange(n)}
    names["masks"] = torch.zeros(n, 80, 90)
    exec(recipes()["v2-transforms-masks-boxes"].answer.text, names)
    return names["image"], names["target"]


def test_an_image_may_come_from_numpy_or_pil():
    array = np.random.default_rng(0).integers(256, size=(80, 90, 3), dtype=np.uint8)
    results = []
    for pixels in (
        torch.from_numpy(array).permute(2, 0, 1),
        array,
        Image.fromarray(array),
    ):
        torch.manual_seed(0)
        results.append(answer(pixels, [[30, 20, 60, 60]])[0])
    assert torch.equal(results[0], results[1])
    assert torch.equal(results[0], results[2])


def test_an_image_without_objects_and_a_small_one():
    for none in ([], torch.tensor([]), np.zeros((0, 4), np.float32)):
        image, target = answer(torch.zeros(3, 80, 90, dtype=torch.uint8), none)
        assert image.shape == (3, 64, 64)
        assert target["boxes"].shape == (0, 4)
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a (0)"):
        v2.RandomCrop(8)(image, as_boxes([], canvas_size=(64, 64)))
    small = tv.Image(torch.zeros(3, 40, 90))
    with raises_as_documented(PAGE, "ValueError: Required crop size"):
        snippet.augment[1](small)
    assert v2.RandomCrop((64, 64), pad_if_needed=True)(small).shape == (3, 64, 64)


def test_a_flip_by_hand():
    target = {"boxes": as_boxes(), "masks": tv.Mask(as_masks()), "labels": labels}
    flipped, out = v2.RandomHorizontalFlip(p=1)(image, target)
    assert torch.equal(flipped, image.flip(-1))
    assert out["boxes"].tolist() == [[40, 10, 55, 25], [0, 0, 10, 8]]
    assert torch.equal(out["masks"], as_masks().flip(-1))
    assert out["labels"] is labels


def test_a_crop_drops_a_box_its_label_and_its_mask():
    target = {"boxes": as_boxes(), "masks": tv.Mask(as_masks()), "labels": labels}
    crop = v2.Compose([v2.CenterCrop((40, 30)), v2.SanitizeBoundingBoxes()])
    cut, out = crop(image, target)
    assert torch.equal(cut, image[:, :, 15:45])
    assert out["boxes"].tolist() == [[0, 10, 5, 25]]
    assert out["labels"].tolist() == [4]
    assert torch.equal(out["masks"], as_masks()[:1, :, 15:45])


def test_plain_tensors_stay():
    flip = v2.RandomHorizontalFlip(p=1)
    plain = torch.tensor(xyxy)
    assert flip(image, plain)[1] is plain
    both = torch.arange(3.0)[None, None]
    first, second = flip(both, both)
    assert first.flatten().tolist() == [2, 1, 0]
    assert second is both
    boxes = as_boxes()
    for computed in (boxes * 2, boxes[:1], tv.Mask(as_masks()).long()):
        assert type(computed) is torch.Tensor
    wrapped = tv.wrap(boxes[:1], like=boxes)
    assert flip(image, wrapped)[1].tolist() == [[40, 10, 55, 25]]


def test_a_mask_of_pil_is_taken_for_an_image():
    mask = Image.new("L", (4, 4))
    mask.putpixel((0, 0), 7)
    photo, resize = Image.new("RGB", (4, 4)), v2.Resize((8, 8))
    _, blurred = resize(photo, mask)
    assert set(blurred.tobytes()) > {0, 7}
    _, right = resize(photo, tv.Mask(mask))
    assert set(right.flatten().tolist()) == {0, 7}
    assert tv.Mask(mask).shape == (1, 4, 4)
    assert tv.Image(photo).shape == (3, 4, 4)
    jittered = v2.ColorJitter(0.9)(image, tv.Mask(as_masks()))[1]
    assert torch.equal(jittered, as_masks())


def test_the_canvas_is_height_and_width():
    tall = tv.Image(torch.zeros(3, 60, 40))
    with raises_as_documented(PAGE, "ValueError: Found multiple HxW"):
        v2.RandomCrop(10)(tall, as_boxes(canvas_size=(40, 60)))
    turned = as_boxes(canvas_size=(60, 40))  # of an image of 40 x 60
    assert v2.RandomHorizontalFlip(p=1)(image, turned)[1][0, 0] == 20  # not 40


def test_where_the_labels_are():
    sanitize = v2.SanitizeBoundingBoxes()
    target = {"boxes": as_boxes([[5, 5, 5, 9], [1, 1, 8, 8]]), "classes": labels}
    target["area"] = torch.tensor([0.0, 49.0])
    with raises_as_documented(PAGE, "ValueError: Could not infer"):
        sanitize(image, target)
    both = v2.SanitizeBoundingBoxes(
        labels_getter=lambda sample: (sample[1]["classes"], sample[1]["area"])
    )
    out = both(image, target)[1]
    assert (out["classes"].tolist(), out["area"].tolist()) == ([9], [49])
    bare = v2.SanitizeBoundingBoxes(labels_getter=None)
    assert len(bare(image, target)[1]["boxes"]) == 1
    renamed = {"boxes": target["boxes"], "labels": labels, "area": target["area"]}
    assert len(sanitize(image, renamed)[1]["area"]) == 2  # left as it was


def test_what_is_refused():
    with raises_as_documented(PAGE, "TypeError: RandomHorizontalFlip"):
        v1.RandomHorizontalFlip()(image, as_boxes())
    sanitize = v2.SanitizeBoundingBoxes()
    with raises_as_documented(PAGE, "ValueError: No bounding boxes"):
        sanitize(image, {"boxes": torch.tensor(xyxy), "labels": labels})
    with raises_as_documented(PAGE, "ValueError: When using the default"):
        sanitize(image, as_boxes(), labels)
    with raises_as_documented(PAGE, "ValueError: No dtype was specified"):
        v2.ToDtype({tv.Image: torch.float32}, scale=True)(image, tv.Mask(as_masks()))


def test_dtypes_and_fill():
    convert = v2.ToDtype(
        {tv.Image: torch.float32, tv.Mask: torch.int64, "others": None}, scale=True
    )
    pixels = tv.Image(image.to(torch.uint8))
    sample = convert(pixels, tv.Mask(as_masks()), as_boxes())
    dtypes = [part.dtype for part in sample]
    assert dtypes == [torch.float32, torch.int64, torch.int64]
    ones = tv.Mask(torch.ones(40, 60, dtype=torch.uint8))
    turned = v2.RandomRotation((15, 15))(image, ones)[1]
    assert turned.unique().tolist() == [0, 1]
    turned = v2.RandomRotation((9, 9), fill={tv.Mask: 255, "others": 0})(image, ones)[1]
    assert turned.unique().tolist() == [1, 255]


@pytest.mark.parametrize(
    ("form", "box"), [("XYWH", [1, 2, 4, 6]), ("CXCYWH", [3, 5, 4, 6])]
)
def test_formats(form, box):
    boxes = tv.BoundingBoxes([box], format=form, canvas_size=(40, 60))
    corners = v2.ConvertBoundingBoxFormat("XYXY")(boxes)
    assert corners.tolist() == [[1, 2, 5, 8]]


def test_the_wrapper_is_there():
    with pytest.raises(TypeError, match="subclasses of"):
        datasets.wrap_dataset_for_transforms_v2([1])
