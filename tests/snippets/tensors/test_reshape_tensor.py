"""reshape-tensor: against NumPy and a loop, attention against the built-in."""

import numpy as np
import pytest
import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/reshape-tensor"
snippet = load_snippet("tensors/reshape_tensor.py")


def test_every_shape_keeps_the_order_of_the_elements():
    x = np.arange(24).reshape(2, 3, 4)
    assert snippet.x.tolist() == x.tolist()
    np.testing.assert_array_equal(snippet.rows, x.reshape(6, 4))
    np.testing.assert_array_equal(snippet.shared, x.reshape(6, 4))
    np.testing.assert_array_equal(snippet.flat, x.reshape(2, 12))
    np.testing.assert_array_equal(snippet.heads, x.reshape(2, 3, 2, 2))
    for b, t, c in np.ndindex(2, 3, 4):
        assert snippet.heads[b, t, c // 2, c % 2] == x[b, t, c]


@pytest.mark.parametrize("shape", [(2, 3, 6), (1, 5, 3), (0, 3, 6)], ids=str)
def test_the_answer_for_a_transposed_and_for_an_empty_batch(shape):
    x = torch.rand(shape[::-1]).transpose(0, 2)  # a view could not do it
    names = {"x": x, "nh": 3}
    exec(answer("reshape-tensor"), names)
    array = np.ascontiguousarray(x)
    rows = array.reshape(shape[0] * shape[1], shape[2])
    np.testing.assert_array_equal(names["rows"], rows)
    np.testing.assert_array_equal(names["flat"].reshape(shape), array)
    np.testing.assert_array_equal(names["heads"].reshape(shape), array)
    assert names["heads"].shape == (*shape[:2], 3, shape[2] // 3)


def test_views_share_memory_and_copies_do_not():
    for view in (snippet.rows, snippet.shared, snippet.flat, snippet.heads):
        assert view.data_ptr() == snippet.x.data_ptr()
    assert snippet.swapped.data_ptr() == snippet.x.data_ptr()
    assert snippet.swapped.reshape(2, 12).data_ptr() != snippet.x.data_ptr()


def test_the_copy_is_in_the_order_of_the_swapped_tensor():
    swapped = np.arange(24).reshape(2, 3, 4).swapaxes(1, 2)
    assert snippet.swapped.tolist() == swapped.tolist()
    np.testing.assert_array_equal(
        snippet.swapped.reshape(2, 12), swapped.reshape(2, 12)
    )


def test_the_snippet_shows_what_the_page_quotes(capsys):
    load_snippet("tensors/reshape_tensor.py")
    printed = capsys.readouterr().out
    assert "tensor([ 0,  4,  8,  1,  5,  9,  2,  6, 10,  3,  7, 11])" in printed
    assert "view size is not compatible" in printed


def split(x, nh):
    return x.unflatten(2, (nh, -1)).transpose(1, 2)


def test_attention_with_the_heads_of_the_page_equals_the_built_in():
    torch.manual_seed(0)
    B, T, C, nh = 2, 5, 12, 3
    layer = nn.MultiheadAttention(C, nh, batch_first=True)
    x = torch.randn(B, T, C)
    expected, _ = layer(x, x, x, need_weights=False)
    qkv = F.linear(x, layer.in_proj_weight, layer.in_proj_bias).chunk(3, dim=-1)
    y = F.scaled_dot_product_attention(*(split(part, nh) for part in qkv))
    merged = y.transpose(1, 2).flatten(2)
    torch.testing.assert_close(layer.out_proj(merged), expected)
    # The right shape too, but a head gets parts of several steps.
    assert torch.equal(rearrange(x, "b t (h c) -> b h t c", h=nh), split(x, nh))
    mixed = x.reshape(B, nh, T, C // nh)
    assert mixed.shape == split(x, nh).shape
    assert not torch.equal(mixed, split(x, nh))


def test_the_documented_errors_are_raised():
    images = torch.ones(4, 16, 10, 10)
    with raises_as_documented(PAGE, "RuntimeError: view size is"):
        snippet.swapped.view(2, 12)
    with raises_as_documented(PAGE, "RuntimeError: shape '[4, -1]'"):
        torch.arange(6).reshape(4, -1)
    with raises_as_documented(PAGE, "ValueError: Expected input batch_size"):
        F.cross_entropy(images.view(-1, 400)[:, :10], torch.zeros(4).long())
    with raises_as_documented(PAGE, "RuntimeError: cannot reshape tensor"):
        torch.ones(0, 3).reshape(0, -1)
    with raises_as_documented(PAGE, "RuntimeError: unflatten: Provided sizes"):
        snippet.x.unflatten(2, (3, -1))
    assert images.flatten(1).shape == nn.Flatten()(images).shape == (4, 1600)
    assert torch.ones(0, 3, 4).flatten(1).shape == (0, 12)


def test_reshape_does_not_transpose():
    x = torch.arange(6).reshape(1, 2, 3)
    assert x.reshape(1, 3, 2).tolist() != x.permute(0, 2, 1).tolist()


@pytest.mark.parametrize("transposed", [False, True])
def test_writing_into_the_result(transposed):
    x = torch.zeros(3, 3).T if transposed else torch.zeros(3, 3)
    x.reshape(9)[0] = 1
    assert x[0, 0] == (0 if transposed else 1)
    assert x.contiguous().view(9).tolist() == x.reshape(9).tolist()
    x.reshape(9).clone()[1] = 5
    assert 5 not in x


def test_the_variants():
    x = torch.zeros(1, 2)
    assert x.unsqueeze(0).shape == x[None].shape == (1, 1, 2)
    assert x.squeeze(0).shape == x.squeeze().shape == (2,)
    assert nn.Unflatten(1, (3, 4))(torch.zeros(2, 12)).shape == (2, 3, 4)
    assert torch.arange(6).resize_(2, 2).tolist() == [[0, 1], [2, 3]]
