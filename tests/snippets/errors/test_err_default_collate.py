"""err-default-collate: what can be batched, by hand; each message raised."""

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, default_collate
from torchvision.transforms import ToTensor

from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/err-default-collate"
REFUSED = "default_collate: batch must contain tensors"
snippet = load_snippet("errors/err_default_collate.py")


def test_none_is_left_out_in_order():
    batch = [(torch.tensor([1.0]), 3), None, (torch.tensor([2.0]), 4)]
    values, labels = snippet.skip_none(batch)
    assert values.tolist() == [[1], [2]]
    assert labels.tolist() == [3, 4]


def test_zero_is_not_none():
    assert snippet.skip_none([0, None, 1]).tolist() == [0, 1]


def test_nothing_left_is_none():
    assert snippet.skip_none([None, None]) is None
    loader = DataLoader([None, 5], 1, collate_fn=snippet.skip_none)
    assert [batch is None for batch in loader] == [True, False]


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA"])
def test_every_image_becomes_three_floats(mode):
    image = snippet.transform(Image.new(mode, (5, 4), "white"))
    assert image.shape == (3, 224, 224)
    assert image.dtype is torch.float32
    assert image.max() == 1
    other = snippet.transform(Image.new(mode, (300, 7)))
    assert default_collate([image, other]).shape == (2, 3, 224, 224)


def test_an_array_of_opencv_gets_the_same_size():
    """Resize leaves an array as it is: it has to come after ToImage."""
    array = np.zeros((5, 4, 3), "uint8")  # (H, W, C)
    array[..., 1] = 255
    image = snippet.transform(array)
    assert image.shape == (3, 224, 224)
    assert image.mean((1, 2)).tolist() == [0, 1, 0]


def test_none_raises():
    with raises_as_documented(
        PAGE,
        "TypeError: default_collate: batch must contain tensors, numpy arrays, "
        "numbers, dicts or lists; found <class 'NoneType'>",
    ):
        default_collate([(torch.zeros(1), None)] * 2)


def test_an_image_raises():
    with raises_as_documented(
        PAGE,
        "TypeError: default_collate: batch must contain tensors, numpy arrays, "
        "numbers, dicts or lists; found <class 'PIL",
    ):
        default_collate([Image.new("L", (2, 2))] * 2)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_an_opened_file_is_named_by_its_format(kind):
    file = io.BytesIO()
    Image.new("L", (2, 2)).save(file, kind)
    with pytest.raises(TypeError, match=f"(?i){kind}ImageFile"):
        default_collate([Image.open(file)])


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (np.array(["a"]), "found <U1"),
        (np.array([None]), "found object"),
        (Path("a"), "pathlib"),
        ({1, 2}, "'set'"),
    ],
)
def test_other_types_are_named(value, found):
    with pytest.raises(TypeError, match=REFUSED) as caught:
        default_collate([value] * 2)
    assert found in str(caught.value)


def test_what_the_page_says_is_batched():
    batch = default_collate([{"a": (np.ones(2), 1, "x")}, {"a": (np.ones(2), 2, "y")}])
    arrays, numbers, strings = batch["a"]
    assert arrays.shape == (2, 2)
    assert numbers.tolist() == [1, 2]
    assert list(strings) == ["x", "y"]
    columns = default_collate([[1, 2, 3], [4, 5, 6]])
    assert [c.tolist() for c in columns] == [[1, 4], [2, 5], [3, 6]]


def test_to_tensor_wants_an_image():
    with raises_as_documented(PAGE, "TypeError: pic should be"):
        ToTensor()(torch.zeros(3, 2, 2))
    for value, name in (("cat.png", "str"), (None, "NoneType")):
        with pytest.raises(TypeError, match=f"pic should be .*{name}"):
            ToTensor()(value)


def test_unequal_lists_raise():
    with raises_as_documented(PAGE, "RuntimeError: each element in list"):
        default_collate([[1, 2], [1]])


def test_some_samples_or_labels_are_none():
    with raises_as_documented(PAGE, "TypeError: expected Tensor as"):
        default_collate([torch.zeros(1), None])
    with raises_as_documented(PAGE, "RuntimeError: Could not infer"):
        default_collate([(torch.zeros(1), 1), (torch.zeros(1), None)])
    with raises_as_documented(PAGE, "KeyError: 'mask'"):
        default_collate([{"mask": 1}, {}])


def test_three_parts_do_not_fit_two_names():
    loader = DataLoader([(1, 2, 3)] * 2, batch_size=2)
    with raises_as_documented(PAGE, "ValueError: too many values to unpack"):
        for _x, _y in loader:
            pass
    by_name = DataLoader([{"x": 1, "y": 2, "z": 3}] * 2, batch_size=2)
    with pytest.raises(ValueError, match="too many values to unpack"):
        for _x, _y in by_name:
            pass


def test_a_gray_image_lacks_a_dimension():
    gray = Image.new("L", (4, 3))
    with raises_as_documented(PAGE, "ValueError: not enough values to unpack"):
        _h, _w, _c = np.asarray(gray).shape
    assert np.asarray(gray.convert("RGB")).shape == (3, 4, 3)
