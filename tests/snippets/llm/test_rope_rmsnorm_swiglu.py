"""rope-rmsnorm-swiglu: against Llama in transformers, complex numbers, float64."""

import math
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import (
    LlamaDecoderLayer,
    LlamaRotaryEmbedding,
    apply_rotary_pos_emb,
)

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("llm/rope_rmsnorm_swiglu.py")
PAGE = "llm/rope-rmsnorm-swiglu"


def config(theta=10000.0):
    made = LlamaConfig(
        hidden_size=32,
        num_attention_heads=4,
        num_key_value_heads=4,
        intermediate_size=44,
        num_hidden_layers=1,
        vocab_size=10,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": theta},
    )
    made._attn_implementation = "sdpa"
    return made


@pytest.mark.parametrize("theta", [10000.0, 500000.0])
def test_rope_is_that_of_llama(theta):
    torch.manual_seed(0)
    q, pos = torch.randn(2, 4, 7, 8), torch.arange(3, 10)
    cos, sin = LlamaRotaryEmbedding(config(theta))(q, pos[None])
    theirs, _ = apply_rotary_pos_emb(q, q, cos, sin)
    torch.testing.assert_close(snippet.rope(q, pos, theta), theirs)


def test_rope_by_default():
    q, pos = torch.randn(1, 1, 50, 8), torch.arange(50)
    torch.testing.assert_close(
        snippet.rope(q, pos), snippet.rope(q, pos, theta=10000.0), rtol=0, atol=0
    )


def test_rope_stays_on_the_device():
    q = torch.empty(1, 2, 5, 8, device="meta")
    out = snippet.rope(q, torch.arange(5, device="meta"))
    assert out.device == q.device
    assert out.shape == q.shape


def test_rope_by_complex_numbers_in_float64():
    torch.manual_seed(0)
    x, pos = torch.randn(1, 2, 5, 6), torch.tensor([0, 1, 2, 10, 11])
    out = snippet.rope(x, pos)
    for t in range(5):
        for i in range(3):
            angle = int(pos[t]) * 10000 ** (-2 * i / 6)
            turn = complex(math.cos(angle), math.sin(angle))
            z = complex(x[0, 1, t, i], x[0, 1, t, i + 3]) * turn
            assert out[0, 1, t, i].item() == pytest.approx(z.real, abs=1e-5)
            assert out[0, 1, t, i + 3].item() == pytest.approx(z.imag, abs=1e-5)


def filled(theta=10000.0):
    """A layer of transformers, and a block with the same weights."""
    torch.manual_seed(0)
    llama = LlamaDecoderLayer(config(theta), layer_idx=0)
    block = snippet.LlamaBlock(C=32, nh=4, hidden=44)
    nn.init.normal_(llama.input_layernorm.weight)
    nn.init.normal_(llama.post_attention_layernorm.weight)
    attention, mlp = llama.self_attn, llama.mlp
    qkv = [attention.q_proj, attention.k_proj, attention.v_proj]
    names = {
        "norm1.weight": llama.input_layernorm.weight,
        "norm2.weight": llama.post_attention_layernorm.weight,
        "qkv.weight": torch.cat([layer.weight for layer in qkv]),
        "out.weight": attention.o_proj.weight,
        "gate.weight": mlp.gate_proj.weight,
        "up.weight": mlp.up_proj.weight,
        "down.weight": mlp.down_proj.weight,
    }
    block.load_state_dict(names)
    return llama, block


def test_the_block_is_a_layer_of_llama():
    llama, block = filled()
    x, pos = torch.randn(2, 9, 32), torch.arange(9)
    rotary = LlamaRotaryEmbedding(config())(x, pos[None])
    theirs = llama(x, position_embeddings=rotary)  # causal without a mask
    theirs = theirs[0] if isinstance(theirs, tuple) else theirs
    torch.testing.assert_close(block(x, pos), theirs)
    small = 1e-3 * x  # here eps counts
    theirs = llama(small, position_embeddings=rotary)
    theirs = theirs[0] if isinstance(theirs, tuple) else theirs
    torch.testing.assert_close(block(small, pos), theirs)


def test_only_distances_count():
    _, block = filled()
    x = torch.randn(1, 6, 32)
    pos = torch.arange(6)
    torch.testing.assert_close(block(x, pos + 3), block(x, pos))
    assert not torch.allclose(block(x, 0 * pos), block(x, pos), atol=1e-3)
    assert not torch.allclose(block(x, 2 * pos), block(x, pos), atol=1e-3)


def test_the_past_does_not_see_the_future():
    _, block = filled()
    x, pos = torch.randn(1, 6, 32), torch.arange(6)
    changed = x.clone()
    changed[:, 4] += 1
    torch.testing.assert_close(block(changed, pos)[:, :4], block(x, pos)[:, :4])


def interleaved(x, pos, theta=10000.0):
    """The layout of Meta's code and of the paper: neighbours are a pair."""
    hs = x.shape[-1]
    i = torch.arange(0, hs, 2).to(x.device, torch.float32)
    angle = pos[:, None] * theta ** (-i / hs)
    cos, sin = angle.cos().to(x), angle.sin().to(x)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)


def test_the_two_layouts():
    torch.manual_seed(0)
    nh, hs, C = 4, 8, 32
    x, pos = torch.randn(6, C), torch.arange(6)
    w = torch.randn(nh * hs, C)  # Meta's wq
    theirs = interleaved((x @ w.T).view(1, 6, nh, hs).transpose(1, 2), pos)
    # by complex numbers, as Meta's code
    z = torch.view_as_complex((x @ w.T).view(6, nh, hs // 2, 2))
    freq = 10000.0 ** (-torch.arange(0, hs, 2) / hs)
    angle = pos[:, None, None] * freq
    z = torch.view_as_real(z * torch.polar(torch.ones_like(angle), angle)).flatten(-2)
    torch.testing.assert_close(theirs[0].transpose(0, 1), z)

    moved = w.view(nh, hs // 2, 2, C).transpose(1, 2).reshape(w.shape)  # the page
    q = (x @ moved.T).view(1, 6, nh, hs).transpose(1, 2)
    ours = snippet.rope(q, pos)
    torch.testing.assert_close(ours @ ours.mT, theirs @ theirs.mT)  # the scores
    wrong = snippet.rope((x @ w.T).view(1, 6, nh, hs).transpose(1, 2), pos)
    assert not torch.allclose(wrong @ wrong.mT, theirs @ theirs.mT, atol=0.1)


def test_heads_after_the_tokens():
    x, pos = torch.randn(2, 6, 4, 16), torch.arange(6)  # (B, T, nh, hs)
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a (4)"):
        snippet.rope(x, pos)


def test_a_step_with_a_cache():
    q = torch.randn(1, 4, 6, 8)
    whole = snippet.rope(q, torch.arange(6))
    past, T = 5, 1
    step = snippet.rope(q[:, :, 5:], torch.arange(past, past + T))
    torch.testing.assert_close(step, whole[:, :, 5:])
    assert not torch.allclose(
        snippet.rope(q[:, :, 5:], torch.arange(T)), whole[:, :, 5:], atol=1e-2
    )


def test_positions_per_row():
    """The variant: pos (B, T), for prompts that are padded on the left."""
    q = torch.randn(2, 4, 3, 8)
    pos = torch.tensor([[0, 1, 2], [0, 0, 1]])
    rows = snippet.rope(q, pos[:, None])  # (B, 1, T)
    for b in range(2):
        one = snippet.rope(q[b : b + 1], pos[b])
        torch.testing.assert_close(rows[b : b + 1], one)


def test_bfloat16_keeps_exact_angles():
    q, pos = torch.randn(1, 1, 1, 8), torch.tensor([4001])
    exact = snippet.rope(q, pos)
    low = snippet.rope(q.bfloat16(), pos)
    assert low.dtype == torch.bfloat16
    torch.testing.assert_close(low.float(), exact, rtol=0.02, atol=0.05)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        torch.testing.assert_close(snippet.rope(q, pos), exact)
    finally:
        torch.set_default_dtype(before)


def test_rms_norm_without_eps_is_not_llamas():
    x = torch.full((1, 8), 1e-3)
    assert nn.RMSNorm(8).eps is None
    assert nn.RMSNorm(8)(x)[0, 0].item() == pytest.approx(0.945, abs=0.001)
    assert nn.RMSNorm(8, eps=1e-5)(x)[0, 0].item() == pytest.approx(0.302, abs=0.001)
    torch.testing.assert_close(
        nn.RMSNorm(8)(x), F.rms_norm(x, (8,), eps=torch.finfo(torch.float32).eps)
    )


def test_rms_norm_warns_of_two_dtypes():
    with (
        warnings.catch_warnings(),
        raises_as_documented(PAGE, "UserWarning: Mismatch dtype"),
    ):
        warnings.simplefilter("error")
        nn.RMSNorm(8)(torch.randn(2, 8).bfloat16())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = nn.RMSNorm(8)(torch.randn(2, 8).bfloat16().float())
        assert y.dtype == torch.float32
        nn.RMSNorm(8, dtype=torch.bfloat16)(torch.randn(2, 8).bfloat16())


def test_the_sizes_that_the_page_names():
    """hidden is 8/3 C, rounded up to a multiple of 256: Llama 2 with 7 billion."""
    C = 4096
    assert -(-8 * C // 3 // 256) * 256 == LlamaConfig().intermediate_size == 11008
