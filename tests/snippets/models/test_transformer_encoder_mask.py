"""transformer-encoder-mask: against attention in NumPy with loops; each pitfall."""

import math
import warnings

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import (
    assert_documented,
    load_snippet,
    raises_as_documented,
    recipes,
)

PAGE = "models/transformer-encoder-mask"
ANSWER = recipes()["transformer-encoder-mask"].answer
snippet = load_snippet("models/transformer_encoder_mask.py")


def numbers(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().double().numpy()


def norm(x: np.ndarray, layer: nn.LayerNorm) -> np.ndarray:
    x = (x - x.mean()) / math.sqrt(x.var() + layer.eps)
    return x * numbers(layer.weight) + numbers(layer.bias)


def attend(x: np.ndarray, attention, sees) -> np.ndarray:
    """Self-attention of one text, token by token: sees(q, k) says who sees whom."""
    T, C = x.shape
    heads = attention.num_heads
    qkv = x @ numbers(attention.in_proj_weight).T + numbers(attention.in_proj_bias)
    q, k, v = qkv.reshape(T, 3, heads, C // heads).transpose(1, 2, 0, 3)
    out = np.zeros((T, heads, C // heads))
    for head in range(heads):
        for i in range(T):
            keys = [j for j in range(T) if sees(i, j)]
            scores = [q[head, i] @ k[head, j] / math.sqrt(C // heads) for j in keys]
            shares = np.exp(scores) / np.exp(scores).sum()
            out[i, head] = sum(
                s * v[head, j] for s, j in zip(shares, keys, strict=True)
            )
    projection = attention.out_proj
    return out.reshape(T, C) @ numbers(projection.weight).T + numbers(projection.bias)


def encode(x: torch.Tensor, sees) -> torch.Tensor:
    """The snippet's encoder for one text, in float64."""
    x = numbers(x)
    for layer in snippet.encoder.layers:
        x = x + attend(x, layer.self_attn, sees)
        x = np.stack([norm(row, layer.norm1) for row in x])
        hidden = x @ numbers(layer.linear1.weight).T + numbers(layer.linear1.bias)
        hidden = np.maximum(hidden, 0) @ numbers(layer.linear2.weight).T
        x = x + hidden + numbers(layer.linear2.bias)
        x = np.stack([norm(row, layer.norm2) for row in x])
    return torch.from_numpy(x).float()


def test_both_masks():
    first = encode(snippet.x[0], lambda i, j: j <= i)
    second = encode(snippet.x[1], lambda i, j: j <= i and j < 2)
    torch.testing.assert_close(snippet.y[0], first)
    # Its padding too: only there do the two masks differ from the causal one.
    torch.testing.assert_close(snippet.y[1], second)
    torch.testing.assert_close(snippet.alone[0], second[:2])


def test_only_the_padding():
    y = snippet.encoder(snippet.x, src_key_padding_mask=snippet.padding)
    torch.testing.assert_close(y[0], encode(snippet.x[0], lambda i, j: True))
    torch.testing.assert_close(y[1, :2], encode(snippet.x[1], lambda i, j: j < 2)[:2])


def test_the_masks():
    assert snippet.padding.tolist() == [[False] * 4, [False, False, True, True]]
    assert snippet.future.tolist() == [[k > q for k in range(4)] for q in range(4)]
    by_hand = snippet.embedding.weight[snippet.tokens] + snippet.position.weight[:4]
    torch.testing.assert_close(snippet.x, by_hand)


def test_padding_from_lengths():
    lengths, T = torch.tensor([4, 2]), 4
    assert torch.equal(torch.arange(T) >= lengths[:, None], snippet.padding)


def test_no_token_sees_the_future_or_the_padding():
    x = snippet.x.detach().requires_grad_()
    masks = {"mask": snippet.future, "src_key_padding_mask": snippet.padding}
    snippet.encoder(x, **masks)[1, 1, 0].backward()
    assert x.grad[1].abs().sum(1).gt(0).tolist() == [True, True, False, False]


def test_the_other_way_round_real_tokens_are_hidden():
    wrong = snippet.encoder(snippet.x, src_key_padding_mask=~snippet.padding)
    right = snippet.encoder(snippet.x, src_key_padding_mask=snippet.padding)
    assert not torch.allclose(wrong[1, :2], right[1, :2], atol=1e-3)


def test_a_float_mask_is_added():
    zeros_ones = snippet.padding.float()
    as_infinity = zeros_ones.masked_fill(snippet.padding, float("-inf"))
    right = snippet.encoder(snippet.x, src_key_padding_mask=snippet.padding)
    wrong = snippet.encoder(snippet.x, src_key_padding_mask=zeros_ones)
    also = snippet.encoder(snippet.x, src_key_padding_mask=as_infinity)
    assert not torch.allclose(wrong[1, :2], right[1, :2], atol=1e-4)
    torch.testing.assert_close(also[1, :2], right[1, :2])


def test_the_built_in_causal_mask_is_a_float_one():
    built_in = nn.Transformer.generate_square_subsequent_mask(4)
    assert torch.equal(built_in == float("-inf"), snippet.future)
    with pytest.warns(UserWarning, match="Support for mismatched") as caught:
        snippet.encoder(snippet.x, mask=built_in, src_key_padding_mask=snippet.padding)
    text = f"UserWarning: {caught[0].message}"
    assert_documented(PAGE, "UserWarning: Support for mismatched", text)


def test_the_nested_tensor_of_inference_warns():
    encoder = nn.TransformerEncoder(snippet.layer, 2).eval()
    with (
        torch.no_grad(),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        y = encoder(snippet.x, src_key_padding_mask=snippet.padding)
    assert not y[1, 2:].any(), "padding is not zero on the fast path"
    for warning in caught:  # C++ gives it once in a process
        text = f"UserWarning: {warning.message}"
        assert_documented(PAGE, "UserWarning: The PyTorch API of nested", text)


@pytest.mark.parametrize("padded", [[True] * 4, [True, True, False, False]])
def test_a_token_that_sees_nothing_gives_nan_in_evaluation(padded):
    masks = {"src_key_padding_mask": torch.tensor([[False] * 4, padded])}
    masks["mask"] = snippet.future
    assert snippet.encoder(snippet.x, **masks).isfinite().all()
    with torch.no_grad():
        y = snippet.encoder(snippet.x, **masks)
    assert y[0].isfinite().all()
    assert y[1].isnan().all()


@pytest.mark.parametrize(
    ("options", "reason"),
    [({}, "batch_first"), ({"batch_first": True, "norm_first": True}, "norm_first")],
)
def test_an_encoder_without_the_fast_path_warns(options, reason):
    with pytest.warns(
        UserWarning, match=f"enable_nested_tensor is .*{reason}"
    ) as caught:
        nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, **options), 1)
    text = f"UserWarning: {caught[0].message}"
    assert_documented(PAGE, "UserWarning: enable_nested_tensor is True", text)


def test_masks_that_do_not_fit():
    with raises_as_documented(PAGE, "RuntimeError: The shape of the 2D attn_mask"):
        snippet.encoder(snippet.x, mask=torch.zeros(2, 2, dtype=torch.bool))
    with raises_as_documented(PAGE, "AssertionError: Expected key_padded_mask"):
        snippet.encoder(snippet.x, src_key_padding_mask=snippet.padding.T)
    with raises_as_documented(PAGE, "AssertionError: only bool and floating"):
        snippet.encoder(snippet.x, src_key_padding_mask=snippet.padding.long())


def test_the_mean_over_the_real_tokens():
    keep = ~snippet.padding[..., None]  # (N, T, 1)
    mean = (snippet.y * keep).sum(1) / keep.sum(1)
    torch.testing.assert_close(mean[1], snippet.alone[0].mean(0))
    assert snippet.y[1, 2:].abs().min() > 0, "the padding has outputs too"


@pytest.mark.parametrize("train", [True, False])
def test_the_answer_in_bfloat16(train):
    assert set(ANSWER.yours) == {"tokens", "x", "encoder"}
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).train(train)
    tokens, x = torch.tensor([[4, 0, 0], [4, 4, 6]]), torch.randn(2, 3, 8).bfloat16()
    names = {"tokens": tokens, "x": x, "encoder": encoder.bfloat16()}
    exec(ANSWER.text, names)
    assert names["y"].dtype == torch.bfloat16
    assert names["y"].isfinite().all()


def test_the_mask_is_made_where_the_model_is():
    seen = {}
    names = {"tokens": torch.ones(2, 3, device="meta"), "encoder": seen.update}
    names["x"] = torch.ones(2, 3, 8, device="meta")
    code = ANSWER.text.replace("encoder(x, ", "encoder(")
    assert code != ANSWER.text
    exec(code, names)
    assert {mask.device.type for mask in seen.values()} == {"meta"}
