"""cat-vs-stack: against NumPy, and the errors of mismatched shapes."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("tensors/cat_vs_stack.py")
collate, join = snippet.collate, snippet.join
PAGE = "tensors/cat-vs-stack"


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0, 3), (2, 1, 3)], ids=str)
def test_stack_adds_a_dimension(shape):
    samples = [torch.rand(shape) for _ in range(3)]
    expected = np.stack([sample.numpy() for sample in samples])
    np.testing.assert_array_equal(collate(samples), expected)
    assert collate(samples).shape == (3, *shape)
    parts = collate(samples).unbind()
    assert all(map(torch.equal, parts, samples))


def test_cat_joins_batches_of_different_length():
    batches = [torch.rand(n, 2, 3) for n in (4, 4, 0, 1)]
    joined = join(batches)
    assert joined.shape == (9, 2, 3)
    expected = np.concatenate([batch.numpy() for batch in batches])
    np.testing.assert_array_equal(joined, expected)
    parts = joined.split([4, 4, 0, 1])
    assert all(map(torch.equal, parts, batches))


def test_not_contiguous():
    a = torch.arange(6).view(2, 3).T
    assert join([a, a]).tolist() == a.tolist() * 2
    assert collate([a, a]).tolist() == [a.tolist()] * 2


@pytest.mark.parametrize("function", [collate, join])
def test_both_copy_and_pass_gradients(function):
    a, b = torch.ones(2, requires_grad=True), torch.ones(2)
    weights = torch.tensor([1.0, 2.0, 3.0, 4.0])
    (function([a, b]).flatten() * weights).sum().backward()
    assert a.grad.tolist() == [1, 2]
    function([b, b]).add_(1)
    assert b.tolist() == [1, 1]


def test_dtypes_are_promoted():
    mixed = join([torch.tensor([2**24 + 1]), torch.ones(1)])
    assert mixed.dtype == torch.float32
    assert mixed[0] == 2**24  # no longer exact
    assert join([torch.ones(1, dtype=torch.bfloat16)] * 2).dtype == torch.bfloat16


def test_dim_of_the_variants():
    tensors = [torch.zeros(10, 5)] * 3
    assert torch.cat(tensors, dim=1).shape == (10, 15)
    assert torch.stack(tensors, dim=-1).shape == (10, 5, 3)


def test_the_documented_errors():
    with raises_as_documented(PAGE):
        collate([torch.zeros(2), torch.zeros(3)])
    with raises_as_documented(PAGE):
        list(DataLoader([torch.zeros(2), torch.zeros(3)], batch_size=2))
    with raises_as_documented(PAGE):
        join([torch.zeros(2, 3), torch.zeros(2, 4)])
    with raises_as_documented(PAGE):  # a single sample after a batch
        join([torch.ones(2, 2), torch.ones(2)])
    assert join([torch.ones(2, 2), torch.ones(2)[None]]).shape == (3, 2)
    with raises_as_documented(PAGE):
        join([torch.tensor(1.0), torch.tensor(2.0)])
    with raises_as_documented(PAGE):
        torch.tensor([torch.zeros(2), torch.zeros(2)])
    with raises_as_documented(PAGE):
        torch.cat(torch.zeros(2), torch.zeros(2))
    with raises_as_documented(PAGE):
        join([])
    with pytest.raises(RuntimeError, match="non-empty"):
        collate([])


def test_a_tensor_is_not_taken_for_a_list():
    for function in (collate, join):
        with pytest.raises(TypeError, match="must be tuple of Tensors"):
            function(torch.zeros(2, 3))
