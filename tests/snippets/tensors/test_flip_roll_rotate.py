"""flip-roll-rotate: against NumPy."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torchvision.transforms.v2.functional import hflip, rotate
from torchvision.tv_tensors import BoundingBoxes

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "tensors/flip-roll-rotate"
ANSWER = recipes()["flip-roll-rotate"].answer


@pytest.mark.parametrize("shape", [(1, 1, 2, 3), (2, 3, 5, 4), (1, 2, 1, 1)])
def test_the_answer_is_numpys(shape):
    x = torch.randn(shape)
    names = {"x": x}
    exec(ANSWER.text, names)
    a = x.numpy()
    np.testing.assert_array_equal(names["mirrored"], np.flip(a, -1))
    np.testing.assert_array_equal(names["turned"], np.rot90(a, 1, (-2, -1)))
    np.testing.assert_array_equal(names["shifted"], np.roll(a, 1, -1))
    for result in ("mirrored", "turned", "shifted"):
        assert names[result].data_ptr() != x.data_ptr()


def test_counterclockwise():
    x = load_snippet("tensors/flip_roll_rotate.py").x  # the top row is 0, 1, 2
    turned = x.rot90(1, dims=(-2, -1))
    assert turned[0, 0, :, 0].tolist() == [2, 1, 0]  # and is now the left column
    square = torch.arange(9.0).reshape(1, 3, 3)
    assert torch.equal(rotate(square, 90), square.rot90(1, (-2, -1)))


def test_the_gradient_goes_back_the_same_way():
    x = torch.arange(3.0, requires_grad=True)
    (x.flip(0) * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [100, 10, 1]


def test_boxes_by_hand_as_torchvision_has_them():
    box = BoundingBoxes([[2, 1, 5, 4]], format="XYXY", canvas_size=(8, 10))
    x1, y1, x2, y2 = box[0].tolist()
    assert hflip(box)[0].tolist() == [10 - x2, y1, 10 - x1, y2]


def test_shifted_without_going_round():
    assert F.pad(torch.tensor([1, 2, 3]), (1, -1)).tolist() == [0, 1, 2]


def test_each_sequence_by_its_own_length():
    x = torch.tensor([[1, 2, 3], [4, 5, 0]])
    for i, n in enumerate([3, 2]):
        x[i, :n] = x[i, :n].flip(0)
    assert x.tolist() == [[3, 2, 1], [5, 4, 0]]


def test_the_messages():
    with raises_as_documented(PAGE, "ValueError: step must be greater"):
        torch.ones(2)[::-1]
    turned = rotate(torch.ones(1, 10, 20), 90, expand=True)
    assert turned.shape == (1, 20, 10)
