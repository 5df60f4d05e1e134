"""kv-cache: against nn.MultiheadAttention with the same weights."""

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet

CODE = (ROOT / "snippets/llm/kv_cache.py").read_text("utf-8")
PAGE = (ROOT / "docs/en/llm/kv-cache.md").read_text("utf-8")
CausalSelfAttention = load_snippet("llm/kv_cache.py").CausalSelfAttention


def twin(layer, C: int, nh: int) -> nn.MultiheadAttention:
    """The built-in module with the weights of the snippet's."""
    attention = nn.MultiheadAttention(C, nh, batch_first=True).eval()
    with torch.no_grad():
        attention.in_proj_weight.copy_(layer.qkv.weight)
        attention.in_proj_bias.copy_(layer.qkv.bias)
        attention.out_proj.weight.copy_(layer.out.weight)
        attention.out_proj.bias.copy_(layer.out.bias)
    return attention


@torch.no_grad()
def test_each_cached_step_is_that_of_the_built_in():
    torch.manual_seed(0)
    layer, x = CausalSelfAttention(C=12, nh=3).eval(), torch.randn(2, 7, 12)
    future = torch.ones(7, 7, dtype=torch.bool).triu(1)
    expected, _ = twin(layer, 12, 3)(x, x, x, attn_mask=future)
    y, cache = layer(x[:, :3])
    steps = [y]
    for t in range(3, 7):
        y, cache = layer(x[:, t : t + 1], cache)
        steps.append(y)
    torch.testing.assert_close(torch.cat(steps, dim=1), expected)
    assert [tuple(part.shape) for part in cache] == [(2, 3, 7, 4)] * 2


@torch.no_grad()
@pytest.mark.parametrize("sizes", [[7], [1] * 7, [3, 2, 2], [1, 5, 1], [4, 3]])
def test_several_new_tokens_at_once(sizes):
    torch.manual_seed(0)
    layer, x = CausalSelfAttention(C=12, nh=3).eval(), torch.randn(2, 7, 12)
    future = torch.ones(7, 7, dtype=torch.bool).triu(1)
    expected, _ = twin(layer, 12, 3)(x, x, x, attn_mask=future)
    cache, steps = None, []
    for part in x.split(sizes, dim=1):
        y, cache = layer(part, cache)
        steps.append(y)
    torch.testing.assert_close(torch.cat(steps, dim=1), expected)


@torch.no_grad()
def test_padding_on_the_left_changes_nothing():
    torch.manual_seed(0)
    old, x = "causal_lower_right(T, k.shape[2])", torch.randn(2, 7, 12)
    (new,) = (line.strip("`. ") for line in PAGE.split("\n") if "tril(S - T)" in line)
    new = new.partition("`")[0].replace("S", "k.shape[2]").replace("keep[", "keep()[")
    assert old in CODE
    keep = torch.ones(2, 7, dtype=torch.bool)
    keep[0, :2] = False
    cached = []
    names = {"__name__": "", "keep": lambda: keep[:, : sum(cached)]}
    exec(CODE.replace(old, new), names)
    layer, steps, cache = names["CausalSelfAttention"](C=12, nh=3).eval(), [], None
    for part in x.split([4, 1, 2], dim=1):
        cached.append(part.shape[1])
        y, cache = layer(part, cache)
        steps.append(y)
    found = torch.cat(steps, dim=1)
    for i, start in ((0, 2), (1, 0)):
        real = x[i : i + 1, start:]
        future = torch.ones(7 - start, 7 - start, dtype=torch.bool).triu(1)
        expected, _ = twin(layer, 12, 3)(real, real, real, attn_mask=future)
        torch.testing.assert_close(found[i : i + 1, start:], expected)


@torch.no_grad()
def test_bfloat16():
    layer = CausalSelfAttention(C=12, nh=3).bfloat16()
    x = torch.randn(1, 5, 12).bfloat16()
    full, _ = layer(x)
    _, cache = layer(x[:, :3])
    y, cache = layer(x[:, 3:], cache)
    assert cache[0].dtype == y.dtype == torch.bfloat16
    torch.testing.assert_close(y, full[:, 3:], rtol=0.05, atol=0.02)


def test_gradients_are_those_of_the_built_in():
    layer, x = CausalSelfAttention(C=12, nh=3), torch.randn(2, 7, 12)
    x.requires_grad_()
    future = torch.ones(7, 7, dtype=torch.bool).triu(1)
    expected, _ = twin(layer, 12, 3)(x, x, x, attn_mask=future)
    (wanted,) = torch.autograd.grad(expected.square().sum(), x)
    (found,) = torch.autograd.grad(layer(x)[0].square().sum(), x)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_the_memory_the_page_counts():
    layer = CausalSelfAttention(C=12, nh=3)
    _, cache = layer(torch.randn(2, 7, 12))
    counted = sum(part.nelement() * part.element_size() for part in cache)
    assert counted == 2 * 1 * 2 * 7 * 3 * 4 * 4  # 2·layers·B·T·heads·size·bytes


@torch.no_grad()
def test_the_cache_is_not_changed_by_a_step():
    layer = CausalSelfAttention(C=12, nh=3)
    _, cache = layer(torch.randn(1, 3, 12))
    before = cache[0].clone()
    _, longer = layer(torch.randn(1, 1, 12), cache)
    assert torch.equal(cache[0], before)
    assert torch.equal(longer[0][:, :, :3], before)
