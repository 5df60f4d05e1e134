"""expand-without-copy: against NumPy, which copies; memory against pointers."""

import numpy as np
import pytest
import torch

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/expand-without-copy"
snippet = load_snippet("tensors/expand_without_copy.py")


def test_values_are_those_of_numpy():
    column = snippet.features.numpy().reshape(64, 512, 1, 1)
    copied = np.tile(column, (1, 1, 7, 7))
    np.testing.assert_array_equal(snippet.view, copied)
    np.testing.assert_array_equal(snippet.copy, copied)
    np.testing.assert_array_equal(snippet.scaled, snippet.images.numpy() * copied)


def test_expand_copies_nothing_and_repeat_everything():
    view, copy = snippet.view, snippet.copy
    assert view.data_ptr() == snippet.features.data_ptr()
    assert view.stride() == (512, 1, 0, 0)
    assert view.untyped_storage().nbytes() == 64 * 512 * 4
    assert copy.data_ptr() != snippet.features.data_ptr()
    assert copy.untyped_storage().nbytes() == 49 * 64 * 512 * 4


@pytest.mark.parametrize("shape", [(1, 2, 5, 3), (2, 1, 1, 1)], ids=str)
def test_the_answer_for_other_sizes(shape):
    B, C, H, W = shape
    names = {"features": torch.rand(B, C).bfloat16(), "images": torch.rand(shape)}
    exec(answer("expand-without-copy"), names)
    copied = np.tile(names["features"].float().numpy().reshape(B, C, 1, 1), (H, W))
    np.testing.assert_array_equal(names["view"].float(), copied)
    np.testing.assert_array_equal(names["copy"].float(), copied)
    assert names["scaled"].shape == shape


def test_what_is_printed(capsys):
    load_snippet("tensors/expand_without_copy.py")
    first, second = capsys.readouterr().out.splitlines()
    assert first == "view (64, 512, 7, 7) (512, 1, 0, 0) 128 KiB"
    assert second == "copy (64, 512, 7, 7) (25088, 49, 7, 1) 6272 KiB"


def test_gradients_are_summed():
    features = torch.ones(1, 2, requires_grad=True)
    weight = torch.arange(8.0).reshape(1, 2, 2, 2)
    (features[:, :, None, None].expand(-1, -1, 2, 2) * weight).sum().backward()
    assert features.grad.tolist() == [[0 + 1 + 2 + 3, 4 + 5 + 6 + 7]]


def test_the_documented_errors_are_raised():
    expanded = torch.ones(2, 1).expand(2, 3)
    with raises_as_documented(PAGE, "RuntimeError: unsupported operation: more"):
        expanded += 1
    with raises_as_documented(
        PAGE, "RuntimeError: The expanded size of the tensor (7)"
    ):
        torch.zeros(64, 512).expand(64, 512, 7, 7)
    with raises_as_documented(PAGE, "RuntimeError: expand(torch.FloatTensor{[2, 3]},"):
        torch.ones(2, 3).expand(3)
    with raises_as_documented(
        PAGE, "RuntimeError: The expanded size of the tensor (-1)"
    ):
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


@pytest.mark.parametrize(
    "write",
    [lambda e: e.zero_(), lambda e: e.fill_(0), lambda e: e[0].fill_(0)],
)
def test_some_writes_go_through(write):
    original = torch.ones(1)
    write(original.expand(2, 3))
    assert original.item() == 0


def test_one_written_element_changes_all():
    original = torch.ones(1)
    view = original.expand(2, 3)
    view[0, 0] = 7
    assert view.tolist() == [[7] * 3] * 2
    assert original.item() == 7
    copy = original.repeat(2, 3)
    copy[0, 0] = 1
    assert copy.sum() == 1 + 5 * 7


def test_broadcasting_does_the_same():
    x, pixel = snippet.images[:2], snippet.pixel[:2]
    expanded = pixel.expand_as(x)
    for combine in (torch.add, torch.mul):
        assert torch.equal(combine(x, pixel), combine(x, expanded))
    assert torch.equal(torch.where(x > 0, x, pixel), torch.where(x > 0, x, expanded))
    assert (torch.ones(4, 2, 3) @ torch.ones(1, 3, 2)).shape == (4, 2, 2)


def test_a_vector_for_every_row_and_a_token_for_every_sample():
    v, cls = torch.arange(3.0), torch.rand(1, 1, 3)
    assert v.expand(2, -1).tolist() == [[0, 1, 2]] * 2
    assert cls.expand(2, -1, -1).tolist() == cls.tolist() * 2


def test_the_variants():
    x = torch.ones(2, 1)
    like = torch.zeros(2, 3)
    for same in (x.expand_as(like), torch.broadcast_to(x, (2, 3))):
        assert (same.shape, same.stride()) == ((2, 3), (1, 0))
    expanded = x.expand(2, 3)
    for full in (expanded.contiguous(), expanded.reshape(6)):
        assert full.data_ptr() != x.data_ptr()
        assert full.untyped_storage().nbytes() == 6 * 4
