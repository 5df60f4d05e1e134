"""sdpa: against a loop over tokens in float64, and each pitfall."""

import math
from importlib.util import find_spec

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import LlamaConfig, LlamaForCausalLM

from tests.helpers import load_snippet, raises_as_documented

PAGE = "llm/sdpa"
snippet = load_snippet("llm/sdpa.py")


def attend(b: int, h: int, t: int, keys: range) -> torch.Tensor:
    """One query's output in plain Python, seeing only some keys."""
    q, k, v = (x[b, h].double() for x in (snippet.q, snippet.k, snippet.v))
    weights = [math.exp(float(q[t] @ k[j]) / math.sqrt(8)) for j in keys]
    total = sum(w * v[j] for w, j in zip(weights, keys, strict=True))
    return (total / sum(weights)).float()


def test_causal_sees_the_past():
    for t in range(6):
        torch.testing.assert_close(
            snippet.y[1, 2, t], attend(1, 2, t, range(t + 1)), rtol=1e-4, atol=1e-5
        )


def test_padding_is_not_seen():
    for b, length in ((0, 6), (1, 4)):
        torch.testing.assert_close(
            snippet.y_pad[b, 3, 5],
            attend(b, 3, 5, range(length)),
            rtol=1e-4,
            atol=1e-5,
        )


def test_both_at_once():
    with raises_as_documented(PAGE, "RuntimeError: _scaled_dot_product_attention: E"):
        scaled_dot_product_attention(
            snippet.q,
            snippet.k,
            snippet.v,
            attn_mask=snippet.keep[:, None, None, :],
            is_causal=True,
        )
    both = torch.ones(6, 6, dtype=torch.bool).tril() & snippet.keep[:, None, None, :]
    y = scaled_dot_product_attention(snippet.q, snippet.k, snippet.v, attn_mask=both)
    torch.testing.assert_close(
        y[1, 0, 5], attend(1, 0, 5, range(4)), rtol=1e-4, atol=1e-5
    )


def test_the_sense_of_the_mask_is_that_of_no_other():
    attention = nn.MultiheadAttention(8, 1, batch_first=True).eval()
    x = snippet.q[:, 0]
    kept, _ = attention(x, x, x, key_padding_mask=~snippet.keep)
    cut, _ = attention(x[1:, :], x[1:, :4], x[1:, :4])
    torch.testing.assert_close(kept[1], cut[0])


def test_a_float_mask_of_ones_hides_nothing():
    q, k, v = snippet.q, snippet.k, snippet.v
    mask = snippet.keep[:, None, None, :].float()
    y = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    changed = v.clone()
    changed[1, :, 5] += 1  # a hidden token, if it were hidden
    again = scaled_dot_product_attention(q, k, changed, attn_mask=mask)
    assert not torch.allclose(y, again)


def test_a_mask_from_a_tokenizer():
    q, k, v = snippet.q, snippet.k, snippet.v
    attention_mask = snippet.keep.long()
    with pytest.raises(RuntimeError, match="Expected attn_mask dtype to be bool or f"):
        scaled_dot_product_attention(q, k, v, attn_mask=attention_mask)
    keep = attention_mask.bool()[:, None, None, :]
    y = scaled_dot_product_attention(q, k, v, attn_mask=keep)
    torch.testing.assert_close(y, snippet.y_pad)


def test_a_query_that_sees_no_key():
    q, k, v = snippet.q, snippet.k, snippet.v
    keep = torch.ones(6, 6, dtype=torch.bool)
    keep[2] = False
    y = scaled_dot_product_attention(q, k, v, attn_mask=keep)
    assert not y[:, :, 2].any()
    scores = (q @ k.mT).masked_fill(~keep, -torch.inf)
    assert scores.softmax(-1)[:, :, 2].isnan().all()


@pytest.mark.skipif(bool(find_spec("flash_attn")), reason="flash_attn is there")
def test_models_that_ask_for_the_package():
    with pytest.raises(ImportError, match="FlashAttention2 has been toggled on, but"):
        LlamaForCausalLM._from_config(
            LlamaConfig(), attn_implementation="flash_attention_2"
        )


def test_one_query_is_lined_up_with_the_first_key():
    q, k, v = snippet.q[:, :, 5:], snippet.k, snippet.v
    wrong = scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(wrong, v[:, :, :1])
    right = scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(right, snippet.y[:, :, 5:])


def test_grouped_queries():
    k, v = snippet.k[:, :2], snippet.v[:, :2]
    y = scaled_dot_product_attention(snippet.q, k, v, enable_gqa=True)
    repeated = scaled_dot_product_attention(
        snippet.q, k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1)
    )
    torch.testing.assert_close(y, repeated)
