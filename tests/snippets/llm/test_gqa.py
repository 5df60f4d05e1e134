"""gqa: against Llama in transformers, plain Python, and each pitfall."""

import math

import pytest
import torch
from torch.nn import functional as F
from transformers.models.llama.modeling_llama import repeat_kv

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("llm/gqa.py")
PAGE = "llm/gqa"


@pytest.fixture
def qkv():
    torch.manual_seed(0)
    return (
        torch.randn(2, 8, 6, 4),
        torch.randn(2, 2, 6, 4),
        torch.randn(2, 2, 6, 4),
    )


def attend(q, k, v, **options):
    return F.scaled_dot_product_attention(q, k, v, **options)


def test_each_head_in_plain_python():
    """y of the snippet, from its projections: head h reads head h // 4 of k and v."""
    x, hs = snippet.x.detach().double(), 8
    wq = snippet.q_proj.weight.detach().double()
    wkv = snippet.kv_proj.weight.detach().double()
    assert snippet.y.shape == (2, 8, 6, 8)
    for b, h, t in ((0, 0, 0), (0, 3, 5), (1, 4, 2), (1, 7, 5)):
        g = h // 4
        q = wq[hs * h : hs * h + hs] @ x[b, t]
        k = x[b] @ wkv[hs * g : hs * g + hs].T  # k first: 2 heads of 8
        v = x[b] @ wkv[16 + hs * g : 16 + hs * g + hs].T
        w = [math.exp(float(q @ k[j]) / math.sqrt(hs)) for j in range(t + 1)]
        by_hand = sum(w[j] * v[j] for j in range(t + 1)) / sum(w)
        torch.testing.assert_close(snippet.y[b, h, t].double(), by_hand, **close)


close = {"rtol": 1e-4, "atol": 1e-5}


def test_the_sizes_of_the_snippet():
    assert snippet.q_proj.weight.shape == (64, 64)
    assert snippet.kv_proj.weight.shape == (32, 64)  # 1/4 of 2 · 64
    assert snippet.q_proj.bias is None
    assert snippet.kv_proj.bias is None
    assert snippet.k.shape == (2, 8, 6, 8)


def test_the_order_of_transformers(qkv):
    q, k, v = qkv
    y = attend(q, k, v, is_causal=True, enable_gqa=True)
    theirs = attend(q, repeat_kv(k, 4), repeat_kv(v, 4), is_causal=True)
    torch.testing.assert_close(y, theirs)


def test_repeat_is_another_order(qkv):
    q, k, v = qkv
    y = attend(q, k, v, enable_gqa=True)
    k, v = k.repeat(1, 4, 1, 1), v.repeat(1, 4, 1, 1)
    assert k.shape == q.shape  # so nothing complains
    assert not torch.allclose(attend(q, k, v), y, atol=0.1)


def test_without_enable_gqa(qkv):
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a (8)"):
        attend(*qkv)


def test_heads_that_do_not_divide(qkv):
    q, k, v = qkv
    with raises_as_documented(PAGE, "RuntimeError: Number of heads in key and"):
        attend(q[:, :7], k, v, enable_gqa=True)


def test_heads_after_the_tokens_raise_nothing(qkv):
    q, k, v = (t.transpose(1, 2) for t in qkv)  # (B, T, nh, hs)
    wrong = attend(q, k, v, enable_gqa=True)
    assert wrong.shape == attend(q, k, v).shape == q.shape
    other = [t.clone() for t in (q, k, v)]
    for t in other:
        t[:, 3] += 1  # another token: the rest do not see it
    changed = attend(*other, enable_gqa=True)
    torch.testing.assert_close(changed[:, :3], wrong[:, :3])
    torch.testing.assert_close(changed[:, 4:], wrong[:, 4:])
    right = attend(*qkv, enable_gqa=True).transpose(1, 2)
    assert not torch.allclose(wrong, right, atol=0.1)


def test_one_head_of_k_and_v_needs_no_switch(qkv):
    q, k, v = qkv
    k, v = k[:, :1], v[:, :1]
    torch.testing.assert_close(attend(q, k, v), attend(q, k, v, enable_gqa=True))


def test_heads_made_from_all_heads(qkv):
    """The variant: the mean of the heads of a group; exact where they are equal."""
    torch.manual_seed(0)
    nh, n_kv, hs, C = 8, 2, 4, 16
    w = torch.randn(n_kv, 1, hs, C).expand(-1, nh // n_kv, -1, -1).reshape(-1, C)
    small = w.view(n_kv, nh // n_kv, hs, C).mean(1).flatten(0, 1)
    assert small.shape == (n_kv * hs, C)
    x, q = torch.randn(1, 5, C), torch.randn(1, nh, 5, hs)
    whole = (x @ w.T).view(1, 5, nh, hs).transpose(1, 2)
    few = (x @ small.T).view(1, 5, n_kv, hs).transpose(1, 2)
    torch.testing.assert_close(
        attend(q, few, few, enable_gqa=True), attend(q, whole, whole)
    )


def test_a_causal_mask_hides_the_cache_from_a_new_token():
    q, k, v = torch.rand(1, 4, 1, 8), *torch.rand(2, 1, 2, 5, 8)
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    first = v[:, :, :1].repeat_interleave(2, dim=1)
    torch.testing.assert_close(y, first)
    y = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    assert not torch.allclose(y, first)


def test_the_size_of_the_cache():
    """2 · layers · T · heads · head size · 2 bytes, as the page works it out."""
    assert 2 * 32 * 8192 * 32 * 128 * 2 / 2**30 == 4
    assert 2 * 32 * 8192 * 8 * 128 * 2 / 2**30 == 1
