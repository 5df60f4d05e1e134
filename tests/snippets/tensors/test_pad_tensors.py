"""pad-tensors: against np.pad and hand-worked sequences; what is refused."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence, unpad_sequence
from torchvision.transforms import v2

from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/pad-tensors"
snippet = load_snippet("tensors/pad_tensors.py")
PLACES = [(0, 0), (0, 1), (0, 2), (1, 0)]  # of the ids that are no padding


def test_the_sizes_are_those_of_numpy_backwards():
    image = snippet.image.numpy()
    np.testing.assert_array_equal(image, [[[0, 1, 2], [3, 4, 5]]])
    expected = np.pad(image, ((0, 0), (0, 1), (1, 2)))
    np.testing.assert_array_equal(snippet.padded, expected)
    expected = np.pad(image, ((0, 0), (1, 1), (1, 1)), mode="reflect")
    np.testing.assert_array_equal(snippet.mirrored, expected)
    torchvision = v2.Pad((1, 0, 2, 1))(snippet.image)  # left, top, right, bottom
    assert torch.equal(torchvision, snippet.padded)


def test_the_other_modes_are_those_of_numpy():
    image = snippet.image
    for ours, theirs in (("replicate", "edge"), ("circular", "wrap")):
        expected = np.pad(image.numpy(), ((0, 0), (1, 1), (2, 1)), mode=theirs)
        np.testing.assert_array_equal(F.pad(image, (2, 1, 1, 1), mode=ours), expected)


def test_up_to_a_multiple():
    assert snippet.whole.shape == (1, 32, 32)
    assert torch.equal(snippet.whole[..., : snippet.H, : snippet.W], snippet.image)
    for n in (31, 32, 33):
        assert n + -n % 32 == (32 if n < 33 else 64)


def test_sequences():
    assert snippet.fixed.tolist() == [5, 3, 8, 0, 0, 0]
    assert snippet.ids.tolist() == [[5, 3, 8], [7, 0, 0]]
    assert snippet.labels.tolist() == [[5, 3, 8], [7, -100, -100]]
    assert snippet.left.tolist() == [[5, 3, 8], [0, 0, 7]]
    assert pad_sequence(snippet.sequences).shape == (3, 2)
    back = unpad_sequence(snippet.labels, torch.tensor([3, 1]), batch_first=True)
    assert [s.tolist() for s in back] == [[5, 3, 8], [7]]


def test_ids_go_into_an_embedding_and_labels_into_the_loss():
    logits = nn.Embedding(9, 9)(snippet.ids)  # (B, T, C)
    loss = F.cross_entropy(logits.mT, snippet.labels)
    counted = [F.cross_entropy(logits[b, t], snippet.ids[b, t]) for b, t in PLACES]
    torch.testing.assert_close(loss, torch.stack(counted).mean())
    with pytest.raises(IndexError, match="index out of range"):
        nn.Embedding(9, 9)(snippet.labels)


def test_a_batch_of_images_and_a_batch_of_one_sequence():
    assert F.pad(torch.ones(2, 3, 4, 5), (1, 2, 0, 1)).shape == (2, 3, 5, 8)
    assert pad_sequence(snippet.sequences[:1], batch_first=True).shape == (1, 3)


def test_negative_sizes_cut():
    assert F.pad(torch.arange(8), (0, 6 - 8)).tolist() == [0, 1, 2, 3, 4, 5]
    assert F.pad(torch.arange(8), (0, max(0, 6 - 8))).shape == (8,)


def test_rows_below():
    x = torch.ones(2, 3)
    assert F.pad(x, (0, 0, 0, 2)).tolist() == [[1] * 3, [1] * 3, [0] * 3, [0] * 3]


def test_modes_other_than_constant_refuse_some_shapes():
    image = torch.arange(6.0).reshape(2, 3)
    with raises_as_documented(PAGE, "NotImplementedError: Padding size 4"):
        F.pad(image, (1, 1, 1, 1), mode="reflect")
    expected = np.pad(image.numpy(), 1, mode="reflect")
    padded = F.pad(image[None], (1, 1, 1, 1), mode="reflect")[0]
    np.testing.assert_array_equal(padded, expected)
    three = torch.zeros(1, 3, 3)
    with raises_as_documented(PAGE, "RuntimeError: Argument #4"):
        F.pad(three, (3, 3, 0, 0), mode="reflect")
    row = torch.arange(3.0)[None]
    twice = F.pad(F.pad(row, (2, 2), mode="reflect"), (1, 1), mode="reflect")
    np.testing.assert_array_equal(twice[0], np.pad(row[0], 3, mode="reflect"))
    assert F.pad(three, (3, 3, 0, 0), mode="replicate").shape == (1, 3, 9)
    with raises_as_documented(PAGE, "NotImplementedError: Unrecognised"):
        F.pad(three, (1, 1), mode="edge")


def test_what_is_refused():
    with raises_as_documented(PAGE, "RuntimeError: Padding length must"):
        F.pad(torch.zeros(2, 3), (1, 2, 0))
    with raises_as_documented(PAGE, "RuntimeError: Padding length should"):
        F.pad(torch.zeros(3), (1, 1, 1, 1))
    with raises_as_documented(PAGE, "TypeError: pad()"):
        F.pad(torch.zeros(3, 3), ((1, 1), (1, 1)))
    with raises_as_documented(PAGE, "RuntimeError: value cannot"):
        F.pad(torch.tensor([1, 2]), (0, 1), value=float("-inf"))
    with raises_as_documented(PAGE, "TypeError: expected Tensor"):
        pad_sequence([[1, 2], [3]])
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a"):
        pad_sequence([torch.ones(1, 3), torch.ones(1, 2)])


def test_variants():
    images = [torch.ones(3, 2, 5), torch.ones(3, 4, 3)]
    H, W = 4, 5
    batch = torch.stack(
        [F.pad(x, (0, W - x.shape[2], 0, H - x.shape[1])) for x in images]
    )
    assert batch.shape == (2, 3, 4, 5)
    assert batch.sum((1, 2, 3)).tolist() == [30, 36]
    assert torch.equal(nn.ZeroPad2d((1, 2, 0, 1))(snippet.image), snippet.padded)
    assert torch.equal(nn.ReflectionPad2d(1)(snippet.image), snippet.mirrored)
    conv = nn.Conv2d(1, 1, 3, padding=1, padding_mode="reflect")
    plain = F.conv2d(snippet.mirrored, conv.weight, conv.bias)
    torch.testing.assert_close(conv(snippet.image), plain)
