"""one-hot: against scikit-learn, a loop and the losses that take it."""

import numpy as np
import pytest
import torch
from sklearn.preprocessing import label_binarize
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

one_hot = load_snippet("tensors/one_hot.py").one_hot
PAGE = "tensors/one-hot"


def test_labels_against_scikit_learn():
    target = torch.tensor([3, 0, 2, 2, 4])
    encoded = one_hot(target, 6)
    assert encoded.dtype == torch.float32
    expected = label_binarize(target, classes=range(6))
    np.testing.assert_array_equal(encoded, expected)
    assert torch.equal(encoded.argmax(1), target)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 3, 4), (2, 2, 3, 4), (0,), (0, 4)])
def test_class_dimension_is_the_second(shape):
    target = torch.randint(3, shape)
    encoded = one_hot(target, 3)
    assert encoded.shape == (shape[0], 3, *shape[1:])
    for c in range(3):
        assert torch.equal(encoded[:, c], (target == c).float())
    scattered = torch.zeros(encoded.shape).scatter_(1, target.unsqueeze(1), 1.0)
    assert torch.equal(encoded, scattered)


def test_not_contiguous():
    target = torch.tensor([[0, 1, 2], [2, 2, 0]]).T
    assert torch.equal(one_hot(target, 3), one_hot(target.contiguous(), 3))


def test_losses_take_it():
    torch.manual_seed(0)
    logits, target = torch.randn(2, 3, 4), torch.randint(3, (2, 4))
    encoded = one_hot(target, 3)
    torch.testing.assert_close(
        F.cross_entropy(logits, encoded), F.cross_entropy(logits, target)
    )
    chosen = F.sigmoid(logits).where(encoded == 1, 1 - F.sigmoid(logits))
    bce = F.binary_cross_entropy_with_logits(logits, encoded)
    torch.testing.assert_close(bce, -chosen.log().mean())


def test_the_documented_errors():
    logits, target = torch.randn(2, 3), torch.tensor([1, 2])
    integers = F.one_hot(target, 3)
    with raises_as_documented(PAGE):
        F.cross_entropy(logits, integers)
    with raises_as_documented(PAGE):
        F.binary_cross_entropy_with_logits(logits, integers)
    for dtype in [torch.int32, torch.uint8, torch.float32]:
        with raises_as_documented(PAGE) as caught:
            one_hot(target.to(dtype), 3)
        assert "LongTensor" in str(caught.value)
    with raises_as_documented(PAGE) as caught:
        one_hot(target, 2)
    assert "smaller than num_classes" in str(caught.value)
    with raises_as_documented(PAGE) as caught:
        one_hot(torch.tensor([-1]), 2)
    assert "non-negative" in str(caught.value)


def test_inferring_the_classes_depends_on_the_batch():
    assert F.one_hot(torch.tensor([0, 1])).shape == (2, 2)
    assert F.one_hot(torch.tensor([0, 2])).shape == (2, 3)
    with pytest.raises(TypeError):
        one_hot(torch.tensor([0, 1]))


def test_ignored_pixels_are_zero_everywhere():
    target = torch.tensor([[[0, 255], [2, 1]]])
    valid = target != 255
    encoded = one_hot(target.where(valid, 0), 3) * valid.unsqueeze(1)
    assert encoded[0, :, 0, 1].tolist() == [0, 0, 0]
    assert torch.equal(encoded.sum(1), valid.float())
    assert torch.equal(encoded.argmax(1)[valid], target[valid])


def test_several_labels_per_sample():
    labels = torch.tensor([[0, 2], [3, 1]])
    encoded = torch.zeros(2, 4).scatter_(1, labels, 1.0)
    assert encoded.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1]]
