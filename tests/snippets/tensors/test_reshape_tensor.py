"""reshape-tensor: heads against loops, attention against nn.MultiheadAttention."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/reshape-tensor"
snippet = load_snippet("tensors/reshape_tensor.py")
split_heads, merge_heads = snippet.split_heads, snippet.merge_heads


@pytest.mark.parametrize("nh", [1, 2, 6])
def test_every_element_is_where_a_loop_puts_it(nh):
    B, T, C = 2, 5, 6
    hs = C // nh
    x = torch.arange(B * T * C).reshape(B, T, C)
    heads = split_heads(x, nh)
    assert heads.shape == (B, nh, T, hs)
    for b, t, c in np.ndindex(B, T, C):
        assert heads[b, c // hs, t, c % hs] == x[b, t, c]
    merged = merge_heads(heads)
    assert merged.shape == x.shape
    assert merged.tolist() == x.tolist()


def test_attention_with_these_heads_equals_the_built_in():
    torch.manual_seed(0)
    B, T, C, nh = 2, 5, 12, 3
    layer = nn.MultiheadAttention(C, nh, batch_first=True)
    x = torch.randn(B, T, C)
    expected, _ = layer(x, x, x, need_weights=False)
    qkv = F.linear(x, layer.in_proj_weight, layer.in_proj_bias).chunk(3, dim=-1)
    y = F.scaled_dot_product_attention(*(split_heads(part, nh) for part in qkv))
    torch.testing.assert_close(layer.out_proj(merge_heads(y)), expected)


def test_views_and_copies():
    x = torch.zeros(2, 5, 12)
    heads = split_heads(x, 3)
    assert heads.data_ptr() == x.data_ptr()
    assert merge_heads(heads).data_ptr() == x.data_ptr()
    packed = heads.contiguous()
    assert merge_heads(packed).data_ptr() != packed.data_ptr()


@pytest.mark.parametrize("shape", [(0, 5, 12), (2, 0, 12), (1, 1, 12)])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int64, torch.bool])
def test_small_batches_and_other_dtypes(shape, dtype):
    x = torch.ones(shape, dtype=dtype)
    heads = split_heads(x, 3)
    assert heads.shape == (shape[0], 3, shape[1], 4)
    assert heads.dtype == dtype
    assert merge_heads(heads).shape == shape


def test_gradients_pass():
    x = torch.ones(1, 2, 4, requires_grad=True)
    weight = torch.arange(8.0).reshape(1, 2, 2, 2)
    merge_heads(split_heads(x, 2) * weight).sum().backward()
    # Head 0 holds channels 0 and 1: its weights are 0 1 (step 0), 2 3 (step 1).
    assert x.grad.tolist() == [[[0, 1, 4, 5], [2, 3, 6, 7]]]


def test_channels_that_do_not_divide():
    with pytest.raises(RuntimeError, match="don't multiply up to the size"):
        split_heads(torch.ones(2, 5, 12), 5)


def test_the_documented_errors_are_raised():
    images = torch.ones(4, 16, 10, 10)
    with raises_as_documented(PAGE):
        torch.ones(2, 3).T.view(6)
    with raises_as_documented(PAGE):
        torch.arange(6).reshape(4, -1)
    with raises_as_documented(PAGE):
        F.cross_entropy(images.view(-1, 400)[:, :10], torch.zeros(4).long())
    with raises_as_documented(PAGE):
        torch.ones(0, 3).reshape(0, -1)
    assert images.flatten(1).shape == nn.Flatten()(images).shape == (4, 1600)
    assert torch.ones(0, 3, 4).flatten(1).shape == (0, 12)


def test_reshape_does_not_transpose():
    x = torch.arange(6).reshape(1, 2, 3)
    assert x.reshape(1, 3, 2).tolist() == x.numpy().reshape(1, 3, 2).tolist()
    assert x.reshape(1, 3, 2).tolist() != x.permute(0, 2, 1).tolist()


def test_a_reshape_is_a_view_where_strides_allow():
    x = torch.zeros(2, 3)
    x.reshape(6)[0] = 1
    assert x[0, 0] == 1
    x.T.reshape(6)[5] = 1
    assert x[1, 2] == 0
    x.view(3, 2)[2, 1] = 1
    assert x[1, 2] == 1
    x.reshape(6).clone()[1] = 1
    assert x.sum() == 2
    assert x.T.contiguous().view(6).tolist() == x.T.reshape(6).tolist()


def test_the_variants():
    x = torch.zeros(1, 2)
    assert x.unsqueeze(0).shape == x[None].shape == (1, 1, 2)
    assert x.squeeze(0).shape == x.squeeze().shape == (2,)
    assert nn.Unflatten(1, (3, 4))(torch.zeros(2, 12)).shape == (2, 3, 4)
    assert torch.arange(6).resize_(2, 2).tolist() == [[0, 1], [2, 3]]
