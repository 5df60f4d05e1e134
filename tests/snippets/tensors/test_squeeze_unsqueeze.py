"""squeeze-unsqueeze: shapes and values against NumPy, and the batch of one."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/squeeze-unsqueeze"
snippet = load_snippet("tensors/squeeze_unsqueeze.py")


def test_the_shapes_and_the_values_are_those_of_numpy():
    image, column = snippet.image.numpy(), snippet.column.numpy()
    np.testing.assert_array_equal(snippet.batch, np.expand_dims(image, 0))
    assert column.shape == (8, 1)
    np.testing.assert_array_equal(snippet.scores, np.squeeze(column, 1))
    assert snippet.scores.shape == (8,)
    assert snippet.vectors.shape == (8, 64)
    assert snippet.image.shape == (3, 32, 32)
    assert snippet.last.shape == (1, 1)


def test_the_answer_for_a_batch_of_one():
    names = {"image": torch.zeros(1, 2, 2).byte(), "labels": torch.tensor([7])}
    exec(answer("squeeze-unsqueeze"), names)
    assert names["batch"].shape == (1, 1, 2, 2)
    assert names["column"].tolist() == [[7]]
    assert names["scores"].tolist() == [7]


def test_they_are_views():
    assert snippet.batch.data_ptr() == snippet.image.data_ptr()
    assert snippet.scores.data_ptr() == snippet.column.data_ptr()


def test_none_and_an_ellipsis_say_the_same():
    x = torch.rand(2, 3)
    assert torch.equal(x[None], x.unsqueeze(0))
    assert torch.equal(x[:, None], x.unsqueeze(1))
    assert torch.equal(x[..., None], x.unsqueeze(-1))
    assert x[:, None, None].shape == (2, 1, 1, 3)
    assert x.expand(1, -1, -1).shape == (1, 2, 3)


@pytest.mark.parametrize(("batch", "bare"), [(2, (2,)), (1, ())])
def test_only_a_named_dimension_keeps_the_batch(batch, bare):
    out = torch.rand(batch, 1)
    assert out.squeeze(1).shape == out[:, 0].shape == (batch,)
    assert out.squeeze().shape == bare


def test_a_dimension_of_another_size_stays():
    assert torch.rand(2, 3).squeeze(1).shape == (2, 3)
    with raises_as_documented(PAGE, "RuntimeError: 0D or 1D target"):
        F.cross_entropy(torch.rand(4, 10), torch.zeros(4, 1, dtype=torch.long))


def test_what_a_lost_batch_raises():
    out = torch.rand(1, 1)
    with raises_as_documented(PAGE, "TypeError: iteration over"):
        list(out.squeeze())
    with raises_as_documented(PAGE, "TypeError: len() of"):
        len(out.squeeze())
    with raises_as_documented(PAGE, "RuntimeError: zero-dimensional tensor"):
        torch.cat([torch.rand(4), out.squeeze()])
    with raises_as_documented(PAGE, "ValueError: Target size"):
        F.binary_cross_entropy_with_logits(out.squeeze(), torch.rand(1))


def test_what_a_missing_batch_raises():
    with raises_as_documented(PAGE, "RuntimeError: Expected 3D (unbatched)"):
        nn.Conv2d(1, 8, 3)(torch.rand(28, 28))
    with raises_as_documented(PAGE, "RuntimeError: Given groups=1"):
        nn.Conv2d(1, 8, 3)(torch.rand(64, 28, 28))
    with raises_as_documented(PAGE, "ValueError: expected 4D input"):
        nn.BatchNorm2d(3)(snippet.image)


def test_outputs_and_labels_of_other_shapes_broadcast():
    out, labels = torch.rand(8, 1), torch.rand(8)
    assert (out - labels).shape == (8, 8)
    expected = sum((o - y) ** 2 for o, y in zip(out[:, 0], labels, strict=True)) / 8
    torch.testing.assert_close(F.mse_loss(out.squeeze(1), labels), expected)
    with pytest.warns(UserWarning, match="Using a target size"):
        assert F.mse_loss(out, labels) != expected
