"""fuse-conv-bn: against the formula and models of torchvision; what is refused."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval
from torchvision.models import mobilenet_v3_small, resnet18

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/fuse-conv-bn"
ANSWER = recipes()["fuse-conv-bn"].answer


def trained(bn):
    """A BatchNorm in eval() of which no number is that of a new one."""
    for tensor in (bn.running_mean, bn.weight, bn.bias):
        nn.init.normal_(tensor)
    nn.init.uniform_(bn.running_var, 0.5, 2)
    return bn.eval()


def pasted(model, x):
    """What the answer makes of a model."""
    names = {"model": model, "x": x}
    exec(ANSWER.text, names)
    return names["fused"]


def batchnorms(model):
    return sum(isinstance(m, nn.BatchNorm2d) for m in model.modules())


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(4, 4, 3), trained(nn.BatchNorm2d(4))

    def forward(self, x):
        return self.bn(self.conv(x))


@pytest.mark.filterwarnings("ignore:.torch.jit.script_method")  # 2.13 and older
def test_the_snippet(capsys):
    snippet = load_snippet("models/fuse_conv_bn.py")
    assert capsys.readouterr().out == "before: 20 BatchNorm\nafter: 0 BatchNorm\n"
    assert batchnorms(snippet.model) == 20  # 17 in the blocks, 3 beside them


@pytest.mark.filterwarnings("ignore:.torch.jit.script_method")  # 2.13 and older
def test_the_answer_on_models_of_torchvision():
    torch.manual_seed(0)
    for make in (resnet18, mobilenet_v3_small):
        model, x = make(weights=None), torch.randn(2, 3, 40, 40)
        model.apply(lambda m: trained(m) if isinstance(m, nn.BatchNorm2d) else None)
        after = pasted(model, x)
        assert batchnorms(after) == 0
        assert batchnorms(model) > 0
        torch.testing.assert_close(after(x), model(x), rtol=1e-3, atol=1e-3)


@pytest.mark.filterwarnings("ignore:.torch.jit.script_method")  # 2.13 and older
def test_the_answer_in_bfloat16_and_other_dimensions():
    layers = nn.Conv1d(2, 3, 3), trained(nn.BatchNorm1d(3)), nn.ReLU()
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(12, 4))
    model.append(trained(nn.BatchNorm1d(4))).bfloat16()
    x = torch.randn(3, 2, 6).bfloat16()
    after = pasted(model, x)
    assert not any(isinstance(m, nn.BatchNorm1d) for m in after.modules())
    torch.testing.assert_close(after(x), model(x), rtol=0.1, atol=0.1)


def test_the_formula():
    conv, bn = nn.Conv2d(3, 4, 3).eval(), trained(nn.BatchNorm2d(4))
    one = fuse_conv_bn_eval(conv, bn)
    s = bn.weight / (bn.running_var + bn.eps).sqrt()
    torch.testing.assert_close(one.weight, conv.weight * s[:, None, None, None])
    torch.testing.assert_close(one.bias, (conv.bias - bn.running_mean) * s + bn.bias)
    x = torch.randn(2, 3, 6, 6)
    torch.testing.assert_close(one(x), bn(conv(x)), rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore:.torch.jit.script_method")  # 2.13 and older
def test_following_the_calls():
    from torch.fx.experimental.optimization import fuse

    class Other(Small):
        def forward(self, x):
            return self.conv(self.bn(x))

    model, x = Other().eval(), torch.randn(1, 4, 6, 6)
    torch.testing.assert_close(fuse(model)(x), model(x))
    Small.describe = lambda self: "a method"
    small = Small().eval()
    assert not hasattr(fuse(small), "describe")
    del Small.describe
    torch.testing.assert_close(fuse(small)(x), small(x), rtol=1e-4, atol=1e-5)
    assert batchnorms(fuse(small)) == 0

    class Branching(Small):
        def forward(self, x):
            return super().forward(x if x.sum() > 0 else -x)

    with raises_as_documented(PAGE, "TraceError: symbolically"):
        fuse(Branching().eval())


@pytest.mark.filterwarnings("ignore:.torch.jit.script_method")  # 2.13 and older
def test_a_convolution_that_runs_twice_goes_wrong_and_the_answer_says_so():
    from torch.fx.experimental.optimization import fuse

    class Twice(Small):
        def forward(self, x):
            return self.conv(super().forward(x).relu())

    torch.manual_seed(0)
    model, x = Twice().eval(), torch.randn(1, 4, 8, 8)
    assert not torch.allclose(fuse(model)(x), model(x), rtol=0.01, atol=0.01)
    with pytest.raises(AssertionError):
        pasted(model, x)


def test_in_training():
    model = Small().train()
    with raises_as_documented(PAGE, "AssertionError: Fusion"):
        fuse_conv_bn_eval(model.conv, model.bn)


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
