"""fuse-conv-bn-loop: the same outputs, block by block; what it cannot see."""

import copy
from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from tests.helpers import ROOT, load_snippet
from tests.snippets.models.test_fuse_conv_bn import Small, batchnorms, trained

SNIPPET = "models/fuse_conv_bn_loop.py"
SOURCE = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
LOOP = SOURCE[SOURCE.index("for parent") :].split("\n\n")[0]


def fused(model):
    """What the loop makes of a model."""
    names = {"fuse_conv_bn_eval": fuse_conv_bn_eval, "nn": nn, "pairwise": pairwise}
    exec(LOOP, names | {"model": model})
    return model


def test_the_loop():
    snippet = load_snippet(SNIPPET)
    assert batchnorms(snippet.model) == 0
    assert isinstance(snippet.model.layer2[0].downsample[1], nn.Identity)
    assert not snippet.model.training
    with torch.no_grad():
        after = snippet.model(snippet.x)
    torch.testing.assert_close(after, snippet.before, rtol=1e-3, atol=1e-4)
    assert not snippet.before.requires_grad


def test_blocks_within_blocks():
    inner = nn.Sequential(
        nn.Conv2d(4, 4, 3, bias=False), trained(nn.BatchNorm2d(4)), nn.ReLU()
    )
    first = trained(nn.BatchNorm2d(4))  # has no convolution before it
    model = nn.Sequential(first, Small(), nn.ReLU(), nn.Sequential(inner, Small()))
    x = torch.randn(2, 4, 9, 9)
    before = model.eval()(x)
    after = fused(model)(x)
    assert batchnorms(model) == 1
    torch.testing.assert_close(after, before, rtol=1e-4, atol=1e-5)


def test_bfloat16_and_groups():
    model = Small()
    model.conv = nn.Conv2d(4, 4, 3, groups=4, bias=False)
    model.eval().bfloat16()
    x = torch.randn(2, 4, 9, 9).bfloat16()
    before = model(x)
    after = fused(model)(x)
    assert batchnorms(model) == 0
    assert after.dtype == torch.bfloat16
    torch.testing.assert_close(after, before, rtol=0.1, atol=0.1)


def test_a_batchnorm_that_is_called_first():
    class Other(Small):
        def forward(self, x):
            return self.conv(self.bn(x))

    model, x = Other(), torch.randn(1, 4, 6, 6)
    before = model.eval()(x)
    assert not torch.allclose(fused(model)(x), before, atol=1e-2)


def test_the_keys_change():
    class Plain(Small):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(4, 4, 3, bias=False)

    model = Plain().eval()
    weights = copy.deepcopy(model.state_dict())
    assert set(fused(model).state_dict()) == {"conv.weight", "conv.bias"}
    with pytest.raises(RuntimeError, match=r"Missing key.*\n.*Unexpected key"):
        model.load_state_dict(weights)
    again = fused(Plain())
    again.load_state_dict(model.state_dict())
    x = torch.randn(1, 4, 6, 6)
    assert torch.equal(again(x), model(x))
