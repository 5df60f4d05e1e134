"""attention-maps: softmax(QK / sqrt(d)) in NumPy, masks, and other libraries."""

import warnings

import numpy as np
import pytest
import timm
import torch
from torch import nn
from torchvision.models import swin_t, vit_b_16
from transformers import ViTConfig, ViTModel

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "evaluation/attention-maps"
snippet = load_snippet("evaluation/attention_maps.py")


def by_hand(attention, x):
    """The weights of each head, (N, heads, L, L), in float64."""
    n, length, width = x.shape
    heads = attention.num_heads
    weight = attention.in_proj_weight.detach().double().numpy()[: 2 * width]
    bias = attention.in_proj_bias.detach().double().numpy()[: 2 * width]
    qk = x.detach().double().numpy() @ weight.T + bias
    q, k = (
        part.reshape(n, length, heads, width // heads).transpose(0, 2, 1, 3)
        for part in np.split(qk, 2, axis=2)
    )
    score = q @ k.transpose(0, 1, 3, 2) / np.sqrt(width // heads)
    score = np.exp(score - score.max(-1, keepdims=True))
    return score / score.sum(-1, keepdims=True)


def hooked(model):
    maps = []
    for layer in model.modules():
        if isinstance(layer, nn.MultiheadAttention):
            layer.register_forward_pre_hook(snippet.ask, with_kwargs=True)
            layer.register_forward_hook(lambda *call: maps.append(call[2][1]))
    return maps


def test_the_maps_are_the_softmax_of_the_products():
    inputs, maps = [], snippet.maps
    assert len(maps) == 2
    blocks = list(snippet.model.encoder.layers)
    hooks = [
        b.ln_1.register_forward_hook(lambda *c: inputs.append(c[2])) for b in blocks
    ]
    snippet.model(snippet.x)
    for hook in hooks:
        hook.remove()
    assert len(maps) == 2  # the hooks of the answer are gone
    for i in (0, 1):
        expected = by_hand(blocks[i].self_attention, inputs[i])
        np.testing.assert_allclose(maps[i].detach(), expected, rtol=1e-4, atol=1e-6)


def test_patches_become_rows_and_columns():
    model, x = snippet.model, snippet.x
    tokens, patches = model._process_input(x), model.conv_proj(x)
    last = snippet.maps[1].detach()
    for row in range(4):
        for column in range(4):
            token = 4 * row + column
            torch.testing.assert_close(tokens[:, token], patches[:, :, row, column])
            expected = sum(last[:, head, 0, 1 + token] for head in range(4)) / 4
            torch.testing.assert_close(snippet.grid[:, row, column], expected)
    assert snippet.heat.shape == (3, 1, 32, 32)
    assert not snippet.heat.requires_grad  # matplotlib refuses one that does
    torch.testing.assert_close(snippet.heat[:, 0, 0, 0], snippet.grid[:, 0, 0])


def test_what_is_printed(capsys):
    load_snippet("evaluation/attention_maps.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["2 layers, (3, 4, 17, 17)", "(3, 1, 32, 32)"]


@pytest.mark.parametrize("grad", [True, False])
def test_an_encoder_with_padding(grad):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    x, padded = torch.randn(2, 5, 16), torch.zeros(2, 5, dtype=torch.bool)
    padded[0, 3:] = True
    with torch.set_grad_enabled(grad):
        before = encoder(x, src_key_padding_mask=padded)
        maps = hooked(encoder)
        after = encoder(x, src_key_padding_mask=padded)
    torch.testing.assert_close(after[~padded], before[~padded])
    assert [tuple(m.shape) for m in maps] == [(2, 2, 5, 5)] * 2
    for weights in maps:
        assert weights[0, :, :, 3:].abs().max() == 0
        torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 5))


def test_the_answer_turns_dropout_off():
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.5, batch_first=True)
    names = {"model": nn.TransformerEncoder(layer, 2), "x": torch.randn(3, 5, 16)}
    exec(answer("attention-maps"), names)
    for weights in names["maps"]:
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, 2, 5))
    exec(answer("attention-maps").replace("model.eval()", "model.train()"), names)
    assert (names["maps"][0].sum(-1) - 1).abs().max() > 0.1
    assert len(names["maps"]) == 2  # in a second run, too


def test_rows_of_padding_mean_nothing():
    """An encoder as it is built by default drops the padding."""
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 1).eval()
    padded = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    maps = hooked(encoder)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nested tensors are a prototype
        encoder(torch.randn(2, 5, 16), src_key_padding_mask=padded)
    rows = maps[0].sum(-1)
    torch.testing.assert_close(rows[0], torch.ones(2, 5))
    torch.testing.assert_close(rows[1], torch.tensor([1.0, 1, 1, 0, 0]).expand(2, -1))
    assert maps[0][1, :, :, 3:].abs().max() == 0


def test_which_models_of_torchvision():
    with torch.device("meta"):
        found = [
            sum(isinstance(m, nn.MultiheadAttention) for m in model.modules())
            for model in (vit_b_16(), swin_t())
        ]
    assert found == [12, 0]


def test_without_asking_there_are_no_weights():
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    maps = []
    layer.self_attn.register_forward_hook(lambda *call: maps.append(call[2][1]))
    layer(torch.randn(2, 5, 16))
    with raises_as_documented(PAGE, "AttributeError: 'NoneType' object has no"):
        maps[-1].mean(1)


def test_your_own_call_returns_them():
    attention, x = nn.MultiheadAttention(16, 2, batch_first=True), torch.randn(2, 5, 16)
    _, weights = attention(x, x, x, average_attn_weights=False)
    np.testing.assert_allclose(weights.detach(), by_hand(attention, x), rtol=1e-4)
    _, mean = attention(x, x, x)
    torch.testing.assert_close(mean, weights.mean(1))


def test_transformers_need_eager():
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 2, "patch_size": 8}
    config = ViTConfig(hidden_size=16, intermediate_size=32, image_size=32, **sizes)
    model = ViTModel(config).eval()
    assert model.config._attn_implementation == "sdpa"
    with raises_as_documented(PAGE, "IndexError: tuple index out of range"):
        model(torch.rand(1, 3, 32, 32), output_attentions=True).attentions[-1]
    model.set_attn_implementation("eager")
    output = model(torch.rand(1, 3, 32, 32), output_attentions=True)
    assert [tuple(m.shape) for m in output.attentions] == [(1, 2, 17, 17)] * 2
    torch.testing.assert_close(output.attentions[-1].sum(-1), torch.ones(1, 2, 17))


def test_timm():
    sizes = {"img_size": 32, "patch_size": 8, "depth": 2, "embed_dim": 16}
    model = timm.create_model("vit_tiny_patch16_224", num_heads=2, **sizes).eval()
    assert not any(isinstance(m, nn.MultiheadAttention) for m in model.modules())
    maps, attention = [], model.blocks[-1].attn
    x = torch.rand(1, 3, 32, 32)
    before = model(x)
    attention.fused_attn = False
    attention.attn_drop.register_forward_hook(lambda *call: maps.append(call[2]))
    torch.testing.assert_close(model(x), before)
    assert maps[0].shape == (1, 2, 17, 17)
    torch.testing.assert_close(maps[0].sum(-1), torch.ones(1, 2, 17))
