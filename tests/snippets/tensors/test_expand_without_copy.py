"""expand-without-copy: against NumPy, which copies; memory against pointers."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/expand-without-copy"
expand_to_map = load_snippet("tensors/expand_without_copy.py").expand_to_map


@pytest.mark.parametrize("B", [0, 1, 4])
@pytest.mark.parametrize(("H", "W"), [(7, 7), (2, 5), (1, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool])
def test_values_equal_a_numpy_copy(B, H, W, dtype):
    features = (torch.arange(B * 3).reshape(B, 3) % 2).to(dtype)
    expanded = expand_to_map(features, H, W)
    column = features.float().numpy().reshape(B, 3, 1, 1)
    assert expanded.shape == (B, 3, H, W)
    assert expanded.dtype == dtype
    assert expanded.tolist() == np.tile(column, (1, 1, H, W)).tolist()


def test_nothing_is_copied():
    for features in (torch.zeros(4, 3), torch.zeros(3, 4).T):
        expanded = expand_to_map(features, 2, 5)
        assert expanded.data_ptr() == features.data_ptr()
        assert expanded.stride() == (*features.stride(), 0, 0)
        assert expanded.untyped_storage().nbytes() == 4 * 3 * 4


def test_gradients_are_summed():
    features = torch.ones(1, 2, requires_grad=True)
    weight = torch.arange(8.0).reshape(1, 2, 2, 2)
    (expand_to_map(features, 2, 2) * weight).sum().backward()
    assert features.grad.tolist() == [[0 + 1 + 2 + 3, 4 + 5 + 6 + 7]]


def test_too_few_dimensions():
    with pytest.raises(IndexError, match="too many indices"):
        expand_to_map(torch.zeros(3), 2, 2)


def test_the_documented_errors_are_raised():
    expanded = torch.ones(2, 1).expand(2, 3)
    with raises_as_documented(PAGE):
        expanded += 1
    with raises_as_documented(PAGE):
        torch.zeros(64, 512).expand(64, 512, 7, 7)
    with raises_as_documented(PAGE):
        torch.ones(2, 3).expand(3)
    with raises_as_documented(PAGE):
        torch.zeros(3).expand(-1, 3)
    assert torch.zeros(3).expand(2, -1).shape == (2, 3)
    copy = expanded.clone()
    copy += 1
    assert copy.tolist() == [[2] * 3] * 2
    assert expanded.tolist() == [[1] * 3] * 2


def test_only_size_one_is_expanded():
    x = torch.tensor([1, 2])
    with pytest.raises(RuntimeError, match="must match the existing size"):
        x.expand(4)
    assert x.repeat(2).tolist() == torch.tile(x, (2,)).tolist() == [1, 2, 1, 2]
    assert x.repeat_interleave(2).tolist() == [1, 1, 2, 2]
    assert x.repeat(2).data_ptr() != x.data_ptr()


@pytest.mark.parametrize(
    "write",
    [lambda e: e.zero_(), lambda e: e.fill_(0), lambda e: e[0].fill_(0)],
)
def test_some_writes_go_through(write):
    original = torch.ones(1)
    write(original.expand(2, 3))
    assert original.item() == 0


def test_one_written_element_changes_all():
    expanded = torch.ones(1).expand(2, 3)
    expanded[0, 0] = 7
    assert expanded.tolist() == [[7] * 3] * 2


def test_broadcasting_does_the_same():
    maps, features = torch.randn(2, 3, 4, 5), torch.randn(2, 3)
    column, expanded = features[:, :, None, None], expand_to_map(features, 4, 5)
    for combine in (torch.add, torch.mul):
        assert torch.equal(combine(maps, column), combine(maps, expanded))
    assert torch.equal(
        torch.where(maps > 0, maps, column), torch.where(maps > 0, maps, expanded)
    )
    assert (torch.ones(4, 2, 3) @ torch.ones(1, 3, 2)).shape == (4, 2, 2)
    for join in (torch.cat, torch.stack):
        with pytest.raises(RuntimeError, match=r"must match|to be equal size"):
            join([maps, column])


def test_unwanted_broadcasting():
    predictions, labels = torch.ones(4, 1), torch.ones(4)
    assert (predictions - labels).shape == (4, 4)
    with pytest.warns(UserWarning, match="different to the input size"):
        F.mse_loss(predictions, labels)
    assert (predictions.squeeze(1) - labels).shape == (4,)


def test_the_variants():
    x = torch.ones(2, 1)
    like = torch.zeros(2, 3)
    for same in (x.expand_as(like), torch.broadcast_to(x, (2, 3))):
        assert (same.shape, same.stride()) == ((2, 3), (1, 0))
    expanded = x.expand(2, 3)
    for full in (expanded.contiguous(), expanded.reshape(6)):
        assert full.data_ptr() != x.data_ptr()
        assert full.untyped_storage().nbytes() == 6 * 4
