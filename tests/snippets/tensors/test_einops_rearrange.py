"""einops-rearrange: against loops over slices, the layer, views and bad patterns."""

import pytest
import torch
from einops import EinopsError, rearrange, reduce, repeat
from einops.layers.torch import Rearrange
from torch import nn

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/einops-rearrange"
PATCHES = "b c (h p) (w q) -> b (h w) (c p q)"
snippet = load_snippet("tensors/einops_rearrange.py")
x = snippet.x


def test_patches_are_slices():
    assert snippet.patches.shape == (2, 6, 768)
    for k in range(6):
        i, j = divmod(k, 3)
        patch = x[:, :, 16 * i : 16 * i + 16, 16 * j : 16 * j + 16]
        assert torch.equal(snippet.patches[:, k], patch.flatten(1))


def test_patches_fit_the_weights_of_a_convolution():
    conv = nn.Conv2d(3, 5, 16, stride=16, bias=False)
    tokens = snippet.patches @ conv.weight.flatten(1).T
    torch.testing.assert_close(tokens, conv(x).flatten(2).mT, atol=1e-4, rtol=1e-4)


def test_heads_are_slices():
    assert snippet.heads.shape == (2, 8, 6, 96)
    for h in range(8):
        part = snippet.patches[:, :, 96 * h : 96 * h + 96]
        assert torch.equal(snippet.heads[:, h], part)
    assert torch.equal(snippet.merged, snippet.patches)


def test_the_others_by_slices():
    for c in range(3):
        assert torch.equal(snippet.nhwc[..., c], x[:, c])
        torch.testing.assert_close(snippet.mean[:, c], x[:, c].flatten(1).mean(1))
    corners = [x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)]
    assert torch.equal(snippet.pooled, torch.stack(corners).amax(0))
    assert snippet.copies.shape == (2, 3, 4, 4)
    assert torch.equal(snippet.copies[:, :, 3, 1], snippet.mean)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_answer_for_one_grey_image(dtype):
    x = torch.rand(1, 1, 16, 32).to(dtype)
    names = {"x": x}
    exec(answer("einops-rearrange"), names)
    assert names["patches"].tolist() == [
        [x[..., :16].flatten().tolist(), x[..., 16:].flatten().tolist()]
    ]
    assert torch.equal(names["merged"], names["patches"])
    assert names["pooled"].shape == (1, 1, 8, 16)


def test_the_order_in_parentheses():
    v = torch.arange(4)
    assert rearrange(v, "(h d) -> h d", h=2).tolist() == [[0, 1], [2, 3]]
    assert rearrange(v, "(d h) -> h d", h=2).tolist() == [[0, 2], [1, 3]]


def test_views_and_gradients():
    base = torch.zeros(2, 3)
    rearrange(base, "a b -> b a")[0, 1] = 7
    assert base[1, 0] == 7
    leaf = torch.ones(4, requires_grad=True)
    reduce(leaf, "(a b) -> a", "mean", b=2).sum().backward()
    assert leaf.grad.tolist() == [0.5] * 4


def test_patterns_that_do_not_fit():
    small = torch.randn(2, 3, 8, 8)
    with raises_as_documented(PAGE, "EinopsError:  Error"):
        rearrange(small, PATCHES, p=3, q=3)
    with pytest.raises(EinopsError, match=r"\n Could not infer sizes for"):
        rearrange(small, PATCHES)
    with pytest.raises(EinopsError, match=r"\n Wrong shape: expected 3 dims\."):
        rearrange(small, "b c h -> b h c")
    for pattern in ("b c h w -> b h w", "b c h w -> b c h w n"):
        with pytest.raises(EinopsError, match="\n Identifiers only on one side"):
            rearrange(small, pattern)
    assert reduce(small, "b c h w -> b h w", "sum").shape == (2, 8, 8)
    assert repeat(small, "b c h w -> b c h w n", n=5).shape == (2, 3, 8, 8, 5)


def test_integers():
    image = torch.tensor([[1, 2], [3, 4]], dtype=torch.uint8)
    with raises_as_documented(PAGE, "NotImplementedError: reduce_mean"):
        reduce(image, "h w -> h", "mean")
    assert reduce(image, "h w -> h", "max").tolist() == [2, 4]
    assert reduce(image, "h w -> h", "sum").tolist() == [3, 7]
    assert reduce(image.float(), "h w -> h", "mean").tolist() == [1.5, 3.5]


def test_variants():
    layer = nn.Sequential(Rearrange("b c h w -> b (c h w)"))
    assert torch.equal(layer(x), x.flatten(1))
    last = rearrange(x[0], "... c h w -> ... h w c")
    assert torch.equal(last, x[0].permute(1, 2, 0))
    assert torch.equal(rearrange(list(x), "b c h w -> b c h w"), x)
