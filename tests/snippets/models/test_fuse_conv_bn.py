"""fuse-conv-bn: against the formula and models of torchvision; what is refused."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/fuse-conv-bn"
ANSWER = recipes()["fuse-conv-bn"].answer


def trained(bn):
    """A BatchNorm in eval() of which no number is that of a new one."""
    for tensor in (bn.running_mean, bn.weight, bn.bias):
        nn.init.normal_(tensor)
    nn.init.uniform_(bn.running_var, 0.5, 2)
    return bn.eval()


def fused(model):
    """What the answer makes of a model."""
    exec(ANSWER.text, {"model": model})
    return model


def batchnorms(model):
    return sum(isinstance(m, nn.BatchNorm2d) for m in model.modules())


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(4, 4, 3), trained(nn.BatchNorm2d(4))

    def forward(self, x):
        return self.bn(self.conv(x))


def test_the_snippet():
    snippet = load_snippet("models/fuse_conv_bn.py")
    assert snippet.left == 0
    assert batchnorms(snippet.model) == 0
    assert isinstance(snippet.model.layer2[0].downsample[1], nn.Identity)
    assert not snippet.model.training
    with torch.no_grad():
        after = snippet.model(snippet.x)
    torch.testing.assert_close(after, snippet.before, rtol=1e-3, atol=1e-4)
    assert not snippet.before.requires_grad


def test_the_formula():
    conv, bn = nn.Conv2d(3, 4, 3).eval(), trained(nn.BatchNorm2d(4))
    one = fuse_conv_bn_eval(conv, bn)
    s = bn.weight / (bn.running_var + bn.eps).sqrt()
    torch.testing.assert_close(one.weight, conv.weight * s[:, None, None, None])
    torch.testing.assert_close(one.bias, (conv.bias - bn.running_mean) * s + bn.bias)
    x = torch.randn(2, 3, 6, 6)
    torch.testing.assert_close(one(x), bn(conv(x)), rtol=1e-4, atol=1e-5)


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


@pytest.mark.filterwarnings("ignore:.torch.jit.script_method")  # 2.13 and older
def test_following_the_calls():
    from torch.fx.experimental.optimization import fuse

    class Other(Small):
        def forward(self, x):
            return self.conv(self.bn(x))

    model, x = Other().eval(), torch.randn(1, 4, 6, 6)
    torch.testing.assert_close(fuse(model)(x), model(x))
    small = Small().eval()
    torch.testing.assert_close(fuse(small)(x), small(x), rtol=1e-4, atol=1e-5)
    assert batchnorms(fuse(small)) == 0

    class Branching(Small):
        def forward(self, x):
            return super().forward(x if x.sum() > 0 else -x)

    with raises_as_documented(PAGE, "TraceError: symbolically"):
        fuse(Branching().eval())


def test_in_training():
    model = Small().train()
    with raises_as_documented(PAGE, "AssertionError: Fusion"):
        fuse_conv_bn_eval(model.conv, model.bn)


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


def test_what_is_refused():
    conv, bn = nn.Conv2d(3, 4, 3).eval(), nn.BatchNorm2d(4).eval()
    with raises_as_documented(PAGE, "AssertionError: bn.running_mean"):
        fuse_conv_bn_eval(conv, nn.BatchNorm2d(4, track_running_stats=False).eval())
    with raises_as_documented(PAGE, "AttributeError: 'Conv2d' object"):
        fuse_conv_bn_eval(bn, conv)
    transposed = nn.ConvTranspose2d(3, 4, 3).eval()
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor"):
        fuse_conv_bn_eval(transposed, bn)
    bn, x = trained(bn), torch.randn(2, 3, 5, 5)
    one = fuse_conv_bn_eval(transposed, bn, transpose=True)
    torch.testing.assert_close(one(x), bn(transposed(x)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dims", [1, 3])
def test_other_dimensions(dims):
    conv = getattr(nn, f"Conv{dims}d")(2, 3, 3).eval()
    bn = trained(getattr(nn, f"BatchNorm{dims}d")(3))
    x = torch.randn(2, 2, *[4] * dims)
    one = fuse_conv_bn_eval(conv, bn)
    torch.testing.assert_close(one(x), bn(conv(x)), rtol=1e-4, atol=1e-5)


def test_a_linear_layer():
    linear, bn = nn.Linear(3, 4).eval(), trained(nn.BatchNorm1d(4))
    x = torch.randn(5, 3)
    one = fuse_linear_bn_eval(linear, bn)
    torch.testing.assert_close(one(x), bn(linear(x)), rtol=1e-4, atol=1e-5)


def test_branches_add_up():
    x = torch.randn(2, 3, 6, 6)
    wide, narrow = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(3, 4, 1)
    weight = wide.weight + F.pad(narrow.weight, [1, 1, 1, 1])
    one = F.conv2d(x, weight, wide.bias + narrow.bias, padding=1)
    torch.testing.assert_close(one, wide(x) + narrow(x), rtol=1e-4, atol=1e-5)
