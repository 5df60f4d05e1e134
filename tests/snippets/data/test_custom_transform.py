"""custom-transform: against NumPy, boxes by hand, what is drawn when; bad input."""

import pickle

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision import tv_tensors
from torchvision.transforms import v2

from tests.helpers import load_snippet, raises_as_documented

PAGE = "data/custom-transform"
snippet = load_snippet("data/custom_transform.py")
pixels = np.random.default_rng(0).integers(0, 256, (3, 32, 48), dtype=np.uint8)
image = torch.from_numpy(pixels)


class Drawn(snippet.RandomRightAngle):
    """The same, with an angle that is given."""

    def __init__(self, angle):
        super().__init__()
        self.angle = angle

    def make_params(self, flat_inputs):
        return {"angle": self.angle}


@pytest.mark.parametrize("turns", range(4))
def test_a_turn_is_that_of_numpy(turns):
    turn = Drawn(90 * turns)
    expected = np.rot90(image.numpy(), turns, (1, 2))
    np.testing.assert_array_equal(turn(image), expected)
    photo = Image.fromarray(image.permute(1, 2, 0).numpy())
    turned = np.asarray(turn(photo)).transpose(2, 0, 1)
    np.testing.assert_array_equal(turned, expected)


def test_mask_and_boxes_turn_with_the_image_and_a_label_stays():
    field = torch.zeros(8, 16, dtype=torch.uint8)
    field[2:4, 1:6] = 1
    box = tv_tensors.BoundingBoxes([[1, 2, 6, 4]], format="XYXY", canvas_size=(8, 16))
    picture, mask = tv_tensors.Image(field[None]), tv_tensors.Mask(field)
    label = torch.tensor([3])
    for angle in (0, 90, 180, 270):
        turned = Drawn(angle)(picture, mask, box, label)
        rows, columns = turned[1].nonzero().unbind(1)
        found = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        assert turned[2].tolist() == [found]
        assert torch.equal(turned[0][0], turned[1])
        assert turned[3] is label


def test_all_four_angles_are_drawn_evenly():
    torch.manual_seed(0)
    turn = snippet.RandomRightAngle()
    angles = [turn.make_params([])["angle"] for _ in range(400)]
    assert set(angles) == {0, 90, 180, 270}
    assert min(angles.count(angle) for angle in set(angles)) > 70


def test_the_numbers_are_drawn_once_per_call_from_torch():
    turn = snippet.RandomRightAngle()
    for seed in range(8):
        torch.manual_seed(seed)
        turned, mask = turn(image, tv_tensors.Mask(image[0]))
        assert torch.equal(turned[0], mask)
        torch.manual_seed(seed)
        assert torch.equal(turn(image), turned)


def test_the_whole_pipeline():
    torch.manual_seed(0)
    views = [snippet.train_transform(image) for _ in range(8)]
    assert all(view.dtype == torch.float32 for view in views)
    assert all(view.min() >= 0 and view.max() <= 1 for view in views)
    assert len({view.sum().item() for view in views}) == 8
    kinds = [type(step).__name__ for step in snippet.train_transform.transforms]
    assert kinds == [
        *("RGB", "RandomRightAngle", "RandomResizedCrop", "RandAugment"),
        *("ToImage", "ToDtype", "RandomErasing"),
    ]
    torch.stack(views)  # whatever the turn


def test_without_the_call_of_init():
    class RandomRightAngle(v2.Transform):
        def __init__(self, p):
            self.p = p

    with raises_as_documented(PAGE, "AttributeError: 'RandomRightAngle'"):
        RandomRightAngle(0.5)(image)


def test_the_old_name_of_make_params():
    class Old(v2.Transform):
        def _get_params(self, flat_inputs):
            return {"angle": 90}

        def transform(self, inpt, params):
            return v2.functional.rotate(inpt, params["angle"])

    with raises_as_documented(PAGE, "KeyError: 'angle'"):
        Old()(image)

    class Older(v2.Transform):
        def _transform(self, inpt, params):
            return inpt

    with pytest.raises(NotImplementedError):
        Older()(image)


def test_a_quarter_turn_cannot_be_stacked_with_none():
    views = [Drawn(angle)(image) for angle in (0, 90)]
    with raises_as_documented(PAGE, "RuntimeError: stack expects"):
        torch.stack(views)
    assert torch.stack([v2.CenterCrop(32)(view) for view in views]).shape[0] == 2


def test_rand_augment_needs_floats_up_to_one():
    torch.manual_seed(0)
    clipped = [v2.RandAugment()(image.float()).max() <= 1 for _ in range(30)]
    assert sum(clipped) > 15
    assert v2.RandAugment()(image).dtype == torch.uint8
    with raises_as_documented(PAGE, "TypeError: Inputs of type Mask"):
        v2.RandAugment()(tv_tensors.Image(image), tv_tensors.Mask(image[0]))


def test_images_that_are_not_rgb_and_arrays():
    photo = Image.fromarray(pixels.transpose(1, 2, 0))
    contrast = v2.functional.autocontrast  # one operation of RandAugment
    with raises_as_documented(PAGE, "OSError: not supported for mode RGBA"):
        contrast(photo.convert("RGBA"))
    with pytest.raises(ValueError, match="image has wrong mode"):
        v2.functional.adjust_contrast(photo.convert("P"), 1.5)
    with raises_as_documented(PAGE, "TypeError: No image, video, mask"):
        snippet.train_transform(np.asarray(photo))
    array = np.array(photo)
    assert Drawn(90)(array) is array
    assert snippet.train_transform(v2.ToImage()(array)).shape == (3, 224, 224)
    for other in ("RGBA", "P", "LA", "L", "1", "CMYK"):
        for _ in range(20):
            view = snippet.train_transform(photo.convert(other))
            assert view.shape == (3, 224, 224)


def test_erasing_after_normalize_fills_with_the_mean():
    erase = v2.Compose([v2.Normalize([0.5] * 3, [0.2] * 3), v2.RandomErasing(p=1)])
    erased = erase(torch.ones(3, 32, 32))
    assert sorted(set(erased.flatten().tolist())) == [0, 2.5]


def invert(picture):
    return 255 - picture


def test_functions_and_probabilities():
    torch.manual_seed(0)
    photo = Image.fromarray(pixels.transpose(1, 2, 0))
    inverted = v2.Compose([v2.ToImage(), invert])(photo)
    np.testing.assert_array_equal(inverted, 255 - pixels)
    black = torch.zeros(3, 8, 8, dtype=torch.uint8)
    sometimes = v2.RandomApply([invert], p=0.3)
    share = sum(bool(sometimes(black).any()) for _ in range(200)) / 200
    assert 0.2 < share < 0.4
    noisy = v2.GaussianNoise(sigma=0.1)(torch.full((3, 32, 48), 0.5))
    assert 0.09 < noisy.std() < 0.11
    assert v2.GaussianNoise(sigma=0.1)(v2.ToImage()(photo)).dtype == torch.uint8
    v2.RandomChoice([v2.ColorJitter(0.4), v2.GaussianBlur(3)])(image)
    v2.TrivialAugmentWide()(image)
    with raises_as_documented(PAGE, "TypeError: Argument transforms"):
        v2.RandomApply(invert, p=0.3)


def test_a_lambda_cannot_be_pickled():
    with raises_as_documented(PAGE, "AttributeError: Can't pickle local object"):
        pickle.dumps(v2.Lambda(lambda picture: picture))
    pickle.dumps(v2.Compose([invert]))


def test_images_only():
    class Inverted(v2.Transform):
        def transform(self, inpt, params):
            if isinstance(inpt, (tv_tensors.Mask, tv_tensors.BoundingBoxes)):
                return inpt
            return invert(inpt)

    picture, mask = Inverted()(image, tv_tensors.Mask(image[0]))
    assert torch.equal(picture, 255 - image)
    assert torch.equal(mask, image[0])
