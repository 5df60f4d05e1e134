"""flex-attention: against a float64 loop over queries; one compilation at most."""

import pytest
import torch
from torch.nn.attention import flex_attention as module
from torch.nn.attention.flex_attention import (
    and_masks,
    create_block_mask,
    flex_attention,
)

from tests.helpers import load_snippet, raises_as_documented

PAGE = "llm/flex-attention"
snippet = load_snippet("llm/flex_attention.py")


@pytest.fixture
def eager(monkeypatch):
    """The unfused implementation, without its warning and without a compiler."""
    monkeypatch.setattr(module, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    return flex_attention


def alibi(score, b, h, q_idx, kv_idx):
    return score - torch.exp2(-(h + 1.0)) * (q_idx - kv_idx)


def qkv(T=200, B=2, nh=2):
    return torch.randn(3, B, nh, T, 8, generator=torch.Generator().manual_seed(0))


def by_loop(q, k, v, seen, bias=lambda b, h, i, j: 0.0):
    """Query by query, over the keys that it sees."""
    y = torch.zeros_like(q, dtype=torch.float64)
    for b, h, i in torch.cartesian_prod(*map(torch.arange, q.shape[:3])).tolist():
        keys = [j for j in range(k.shape[2]) if seen(b, h, i, j)]
        if keys:
            scores = k[b, h, keys].double() @ q[b, h, i].double() / q.shape[-1] ** 0.5
            scores += torch.tensor([bias(b, h, i, j) for j in keys])
            y[b, h, i] = scores.softmax(0) @ v[b, h, keys].double()
    return y


def test_the_window_and_alibi(eager):
    q, k, v = qkv(B=1)
    mask = create_block_mask(snippet.window, None, None, 200, 200, device="cpu")
    y = eager(q, k, v, block_mask=mask)
    expected = by_loop(q, k, v, lambda b, h, i, j: i - 128 < j <= i)
    torch.testing.assert_close(y.double(), expected, rtol=1e-4, atol=1e-5)

    y = eager(q, k, v, score_mod=alibi, block_mask=mask)
    expected = by_loop(
        q,
        k,
        v,
        lambda b, h, i, j: i - 128 < j <= i,
        lambda b, h, i, j: -(i - j) / 2 ** (h + 1),
    )
    torch.testing.assert_close(y.double(), expected, rtol=1e-4, atol=1e-5)


def test_the_blocks_that_are_skipped_counted_by_hand():
    mask = create_block_mask(snippet.window, None, None, 512, 512, device="cpu")
    # of 16 blocks the diagonal's 4 and the 3 below it are not empty
    assert mask.sparsity() == pytest.approx(100 * 9 / 16)
    causal = create_block_mask(
        lambda b, h, q, k: q >= k, None, None, 512, 512, device="cpu"
    )
    calls = causal.kv_num_blocks.sum(), causal.full_kv_num_blocks.sum()
    assert calls == (4, 6)  # the function decides on the diagonal only


def test_documents_and_padding(eager):
    q, k, v = qkv(T=10)
    doc = torch.tensor([0] * 4 + [1] * 6)
    mask = create_block_mask(
        lambda b, h, q_idx, kv_idx: (doc[q_idx] == doc[kv_idx]) & (q_idx >= kv_idx),
        None,
        None,
        10,
        10,
        device="cpu",
    )
    y = eager(q, k, v, block_mask=mask)
    parts = [[t[:, :, rows] for t in (q, k, v)] for rows in (slice(4), slice(4, 10))]
    sdpa = torch.nn.functional.scaled_dot_product_attention
    alone = torch.cat([sdpa(*part, is_causal=True) for part in parts], 2)
    torch.testing.assert_close(y, alone)

    lengths = torch.tensor([3, 10])
    mask = create_block_mask(
        and_masks(
            lambda b, h, q_idx, kv_idx: kv_idx < lengths[b],
            lambda b, h, q_idx, kv_idx: q_idx >= kv_idx,
        ),
        2,
        None,
        10,
        10,
        device="cpu",
    )
    expected = by_loop(q, k, v, lambda b, h, i, j: j <= i and j < lengths[b])
    y = eager(q, k, v, block_mask=mask)
    torch.testing.assert_close(y.double(), expected, rtol=1e-4, atol=1e-5)


def test_a_kv_cache(eager):
    """The last 3 tokens, after 197, are those of the whole sequence."""
    q, k, v = qkv(B=1)
    expected = by_loop(q, k, v, lambda b, h, i, j: i - 128 < j <= i)[:, :, 197:]
    new, past = q[:, :, 197:], 197

    def shifted(b, h, q_idx, kv_idx):
        return snippet.window(b, h, q_idx + past, kv_idx)

    mask = create_block_mask(shifted, None, None, 3, past + 3, device="cpu")
    y = eager(new, k, v, block_mask=mask)
    torch.testing.assert_close(y.double(), expected, rtol=1e-4, atol=1e-5)
    mask = create_block_mask(snippet.window, None, None, 3, past + 3, device="cpu")
    y = eager(new, k, v, block_mask=mask)
    torch.testing.assert_close(y[:, :, 0], v[:, :, 0])  # the first sees only itself


def test_soft_capping(eager):
    q, k, v = 300 * qkv(T=6)
    y = eager(q, k, v, score_mod=lambda s, b, h, i, j: 50 * torch.tanh(s / 50))
    scores = q @ k.transpose(-2, -1) / 8**0.5
    torch.testing.assert_close(y, (50 * torch.tanh(scores / 50)).softmax(-1) @ v)


def test_the_warning_without_compile(monkeypatch):
    monkeypatch.setattr(module, "_WARNINGS_SHOWN", set())
    with raises_as_documented(PAGE, "UserWarning: flex_attention called without"):
        flex_attention(*qkv(T=4))


def test_and_instead_of_the_operator():
    def both(b, h, q_idx, kv_idx):
        return q_idx >= kv_idx and q_idx - kv_idx < 4

    with raises_as_documented(PAGE, "RuntimeError: vmap: It looks like"):
        create_block_mask(both, None, None, 8, 8, device="cpu")


def test_messages(eager):
    q, k, v = qkv(T=8)
    with raises_as_documented(PAGE, "NotImplementedError: FlexAttention does not"):
        eager(q.clone().requires_grad_(), k, v)
    mask = create_block_mask(snippet.window, None, None, 4, 4, device="cpu")
    with raises_as_documented(PAGE, "RuntimeError: block_mask was created"):
        eager(q, k, v, block_mask=mask)
    with raises_as_documented(PAGE, "AttributeError: 'Tensor' object has no"):
        eager(q, k, v, block_mask=torch.ones(8, 8, dtype=torch.bool))
    with raises_as_documented(PAGE, "ValueError: Expect query and key/value to"):
        eager(q, k[:, :1], v[:, :1])
    grouped = eager(q, k[:, :1], v[:, :1], enable_gqa=True)
    same = eager(q, k[:, :1].expand_as(k), v[:, :1].expand_as(v))
    torch.testing.assert_close(grouped, same)
