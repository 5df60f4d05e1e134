"""multihead-attention: against loops in float64 and torch's own layer."""

import math

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/multihead-attention"
SelfAttention = load_snippet("models/multihead_attention.py").SelfAttention
LENGTHS = torch.tensor([5, 3])
KEEP = torch.arange(5) < LENGTHS[:, None]


@pytest.fixture
def pair():
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(16, 4, batch_first=True)
    nn.init.normal_(layer.in_proj_bias)
    nn.init.normal_(layer.out_proj.bias)
    own = SelfAttention(16, 4)
    own.qkv.weight, own.qkv.bias = layer.in_proj_weight, layer.in_proj_bias
    own.out_proj = layer.out_proj
    return own.double(), layer.double(), torch.randn(2, 5, 16).double()


def by_loops(own, x, length):
    """Attention of one text, head by head and query by query."""
    q, k, v = own.qkv(x).split(16, dim=-1)
    rows = []
    for i in range(len(x)):
        heads = []
        for h in range(4):
            part = slice(4 * h, 4 * h + 4)
            scores = [q[i, part] @ k[j, part] / math.sqrt(4) for j in range(length)]
            share = torch.stack(scores).softmax(0)
            heads.append(sum(share[j] * v[j, part] for j in range(length)))
        rows.append(own.out_proj(torch.cat(heads)))
    return torch.stack(rows)


def test_against_loops_and_the_layer(pair):
    own, layer, x = pair
    y = own(x, keep=KEEP)
    for n in range(2):
        torch.testing.assert_close(y[n], by_loops(own, x[n], LENGTHS[n]))
    expected, weights = layer(x, x, x, key_padding_mask=~KEEP)
    torch.testing.assert_close(y, expected)
    assert not weights[1, :, 3:].any()
    torch.testing.assert_close(own(x), layer(x, x, x, need_weights=False)[0])
    torch.testing.assert_close(own(x)[1], by_loops(own, x[1], 5))


def test_nan_where_a_token_can_look_at_nothing(pair):
    _, layer, x = pair
    padding = torch.arange(5) >= torch.tensor([[5], [0]])  # the second text is empty
    y, _ = layer(x, x, x, key_padding_mask=padding)
    assert y.isnan().any(2).tolist() == [[False] * 5, [True] * 5]
    padding[:, 0] = False
    fixed, _ = layer(x, x, x, key_padding_mask=padding)
    assert not fixed.isnan().any()
    torch.testing.assert_close(fixed[0], y[0])
    causal = torch.ones(5, 5, dtype=torch.bool).triu(1)
    left = torch.arange(5).expand(2, 5) < 2
    for padding, nan in ((left, [True] * 2 + [False] * 3), (left.flip(1), [False] * 5)):
        y, _ = layer(x, x, x, key_padding_mask=padding, attn_mask=causal)
        assert y.isnan().any(2).tolist() == [nan] * 2


def test_a_float_mask_of_zeros_and_ones_hides_nothing(pair):
    _, layer, x = pair
    _, weights = layer(x, x, x, key_padding_mask=(~KEEP).double())
    assert (weights > 0).all()


def test_it_is_made_for_any_width():
    own = SelfAttention(12, 3)
    assert own(torch.randn(2, 5, 12)).shape == (2, 5, 12)
    assert own.qkv.weight.shape == (36, 12)


def test_weights(pair):
    _, layer, x = pair
    _, mean = layer(x, x, x)
    _, each = layer(x, x, x, average_attn_weights=False)
    assert each.shape == (2, 4, 5, 5)
    torch.testing.assert_close(mean, each.mean(1))
    assert layer(x, x, x, need_weights=False)[1] is None


def test_without_batch_first_texts_see_each_other(pair):
    _, layer, x = pair
    wrong = nn.MultiheadAttention(16, 4).double()
    other = torch.cat([x[:1], torch.randn(1, 5, 16).double()])
    for attention, same in ((layer, True), (wrong, False)):
        first, second = (attention(z, z, z)[0][0] for z in (x, other))
        assert torch.allclose(first, second) is same
    with raises_as_documented(PAGE, "AssertionError: Expected key_padded_mask"):
        wrong(x, x, x, key_padding_mask=~KEEP)


def test_messages(pair):
    own, layer, x = pair
    with raises_as_documented(PAGE, "TypeError: linear()"):
        nn.Linear(16, 16)(layer(x, x, x))
    with raises_as_documented(PAGE, "AssertionError: embed_dim"):
        nn.MultiheadAttention(16, 3)
    with raises_as_documented(PAGE, "AssertionError: was expecting"):
        layer(*[x[..., :8]] * 3)
    with raises_as_documented(PAGE, "AssertionError: only bool"):
        layer(x, x, x, key_padding_mask=KEEP.long())
    mask = (~KEEP)[:, None].expand(2, 5, 5)
    with raises_as_documented(PAGE, "RuntimeError: The shape of the 3D"):
        layer(x, x, x, attn_mask=mask)
    y, _ = layer(x, x, x, attn_mask=mask.repeat_interleave(4, dim=0))
    torch.testing.assert_close(y, own(x, keep=KEEP))


def test_cross_attention(pair):
    _, layer, x = pair
    y, weights = layer(x[:, :2], x, x, key_padding_mask=~KEEP)
    assert y.shape == (2, 2, 16)
    assert weights.shape == (2, 2, 5)
    y_all, _ = layer(x, x, x, key_padding_mask=~KEEP)
    torch.testing.assert_close(y, y_all[:, :2])


def test_causal(pair):
    own, layer, x = pair
    future = torch.ones(5, 5, dtype=torch.bool).triu(1)
    y, _ = layer(x, x, x, attn_mask=future)
    for t in range(5):
        torch.testing.assert_close(y[0, t], by_loops(own, x[0, : t + 1], t + 1)[t])


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_bfloat16_and_another_device(device):
    model = SelfAttention(8, 2).to(device, torch.bfloat16)
    y = model(torch.ones(2, 3, 8, device=device, dtype=torch.bfloat16))
    assert (y.dtype, y.device.type) == (torch.bfloat16, device)
