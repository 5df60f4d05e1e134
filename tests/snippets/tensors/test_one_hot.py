"""one-hot: against scikit-learn, a loop and the losses that take it."""

import numpy as np
import pytest
import torch
from sklearn.preprocessing import label_binarize
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import load_snippet, quoted, raises_as_documented

PAGE = "tensors/one-hot"
snippet = load_snippet("tensors/one_hot.py")


def test_labels_against_scikit_learn():
    assert snippet.encoded.dtype == torch.float32
    expected = label_binarize(snippet.target, classes=range(3))
    np.testing.assert_array_equal(snippet.encoded, expected)
    assert torch.equal(snippet.encoded.argmax(1), snippet.target)


def test_the_class_dimension_of_a_mask_is_the_second():
    assert snippet.planes.dtype == torch.float32
    assert snippet.planes.shape == (1, 3, 2, 2)
    for c in range(3):
        assert torch.equal(snippet.planes[:, c], (snippet.mask == c).float())
    index = snippet.mask.unsqueeze(1)
    scattered = torch.zeros(1, 3, 2, 2).scatter_(1, index, 1.0)
    assert torch.equal(snippet.planes, scattered)


def test_the_answer_for_a_batch_that_lacks_classes():
    names = {"C": 5, "target": torch.tensor([1]), "mask": torch.zeros(2, 3, 4).long()}
    exec(answer("one-hot"), names)
    assert names["encoded"].tolist() == [[0, 1, 0, 0, 0]]
    assert names["planes"].shape == (2, 5, 3, 4)
    assert names["planes"][:, 0].eq(1).all()
    assert not names["planes"][:, 1:].any()


def test_a_dimension_of_size_1_stays_and_is_squeezed():
    target, mask = torch.tensor([[2], [0]]), torch.zeros(2, 1, 4, 4).long()
    names = {"C": 3, "target": target, "mask": mask}
    exec(answer("one-hot"), names)
    assert names["encoded"].shape == (2, 1, 3)
    assert names["planes"].shape == (2, 3, 1, 4, 4)
    assert (torch.rand(2, 3) * names["encoded"]).shape == (2, 2, 3)  # broadcast
    names |= {"target": target.squeeze(1), "mask": mask.squeeze(1)}
    exec(answer("one-hot"), names)
    assert names["encoded"].tolist() == [[0, 0, 1], [1, 0, 0]]
    assert names["planes"].shape == (2, 3, 4, 4)


def test_what_is_printed(capsys):
    load_snippet("tensors/one_hot.py")
    printed = capsys.readouterr().out
    assert printed == "tensor([[0., 0., 1.],\n        [1., 0., 0.]])\n"


def test_losses_take_it():
    torch.manual_seed(0)
    logits, planes = torch.randn(1, 3, 2, 2), snippet.planes
    torch.testing.assert_close(
        F.cross_entropy(logits, planes), F.cross_entropy(logits, snippet.mask)
    )
    chosen = F.sigmoid(logits).where(planes == 1, 1 - F.sigmoid(logits))
    bce = F.binary_cross_entropy_with_logits(logits, planes)
    torch.testing.assert_close(bce, -chosen.log().mean())


def test_the_documented_errors():
    logits, target = torch.randn(2, 3), torch.tensor([1, 2])
    integers = F.one_hot(target, 3)
    with raises_as_documented(PAGE, "RuntimeError: Expected floating point"):
        F.cross_entropy(logits, integers)
    with raises_as_documented(PAGE, "RuntimeError: result type Float"):
        F.binary_cross_entropy_with_logits(logits, integers)
    for dtype in [torch.bool, torch.int32, torch.uint8, torch.float32]:
        with raises_as_documented(PAGE, "RuntimeError: one_hot is only") as caught:
            F.one_hot(target.to(dtype), 3)
        assert "LongTensor" in str(caught.value)
    with raises_as_documented(
        PAGE, "RuntimeError: Class values must be smaller"
    ) as caught:
        F.one_hot(target, 2)
    assert "smaller than num_classes" in str(caught.value)
    with raises_as_documented(
        PAGE, "RuntimeError: Class values must be non-negative."
    ) as caught:
        F.one_hot(torch.tensor([-1]), 2)
    assert "non-negative" in str(caught.value)


def test_the_error_of_a_gpu_is_of_a_class_that_exists():
    """Raised only on a GPU: the text is CUDA's, the class PyTorch's."""
    text = quoted(PAGE, "AcceleratorError: CUDA error: device-side")
    assert issubclass(getattr(torch, text.partition(":")[0]), RuntimeError)


def test_inferring_the_classes_depends_on_the_batch():
    assert F.one_hot(torch.tensor([0, 1])).shape == (2, 2)
    assert F.one_hot(torch.tensor([0, 2])).shape == (2, 3)


@pytest.mark.parametrize("shape", [(5,), (2, 3, 4)], ids=str)
def test_ignored_pixels_are_zero_everywhere(shape):
    target, C = torch.randint(3, shape), 3
    target.view(-1)[::2] = 255
    valid = target != 255
    encoded = F.one_hot(target.where(valid, 0), C) * valid.unsqueeze(-1)
    assert torch.equal(encoded.sum(-1), valid.long())
    assert torch.equal(encoded.argmax(-1)[valid], target[valid])


def test_several_labels_per_sample():
    labels = torch.tensor([[0, 2], [3, 1]])
    encoded = torch.zeros(2, 4).scatter_(1, labels, 1.0)
    assert encoded.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1]]
