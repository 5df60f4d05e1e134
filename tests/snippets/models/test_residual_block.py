"""residual-block: torchvision's block, the formula by hand, and each pitfall."""

import runpy

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models.resnet import BasicBlock, Bottleneck
from torchvision.ops import SqueezeExcitation

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "models/residual-block"
SNIPPET = "models/residual_block.py"
ResidualBlock = load_snippet(SNIPPET).ResidualBlock


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def theirs(c_in, c_out, stride):
    shortcut = None
    if stride != 1 or c_in != c_out:
        project = nn.Conv2d(c_in, c_out, 1, stride, bias=False)
        shortcut = nn.Sequential(project, nn.BatchNorm2d(c_out))
    return BasicBlock(c_in, c_out, stride, shortcut)


@pytest.mark.parametrize("shape", [(4, 4, 1), (4, 8, 1), (4, 4, 2), (4, 8, 2)])
@pytest.mark.parametrize("training", [True, False])
def test_it_is_the_block_of_torchvision(shape, training):
    x = torch.randn(3, 4, 9, 8)
    other = theirs(*shape).train(training)
    for p in other.parameters():
        nn.init.normal_(p)
    ours = ResidualBlock(*shape).train(training)
    ours.load_state_dict(other.state_dict())
    torch.testing.assert_close(ours(x), other(x))


def test_the_shortcut_is_x_unless_the_shape_changes():
    assert isinstance(ResidualBlock(4, 4).downsample, nn.Identity)
    assert ResidualBlock(4, 8)(torch.rand(2, 4, 8, 8)).shape == (2, 8, 8, 8)
    assert ResidualBlock(4, 4, 2)(torch.rand(2, 4, 8, 8)).shape == (2, 4, 4, 4)
    assert ResidualBlock(4, 8, 2)(torch.rand(2, 4, 7, 9)).shape == (2, 8, 4, 5)


def test_with_a_zero_branch_it_is_the_relu_of_x():
    block, x = ResidualBlock(4, 4), torch.randn(2, 4, 8, 8, requires_grad=True)
    nn.init.zeros_(block.bn2.weight)
    assert torch.equal(block(x), x.relu())
    block(x).sum().backward()
    assert torch.equal(x.grad, (x > 0).float())


def test_the_branch_may_subtract():
    block, x = ResidualBlock(4, 4), torch.rand(2, 4, 8, 8)
    assert (block(x) < x).any()
    assert (block(x) >= 0).all()


def test_no_convolution_has_a_bias_and_one_would_do_nothing():
    block = ResidualBlock(4, 8, 2)
    convs = [m for m in block.modules() if isinstance(m, nn.Conv2d)]
    assert [conv.bias for conv in convs] == [None] * 3
    norm, y = nn.BatchNorm2d(4), torch.randn(8, 4, 5, 5)
    bias = torch.randn(1, 4, 1, 1)
    torch.testing.assert_close(norm(y + bias), norm(y), atol=1e-4, rtol=1e-4)


def test_the_demonstration(capsys):
    run = runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    assert capsys.readouterr().out == "(2, 128, 16, 16)\n"
    assert run["block"].downsample is run["shortcut"]


def test_messages():
    x = torch.rand(2, 64, 32, 32)
    wider, smaller = ResidualBlock(64, 128), ResidualBlock(64, 64, 2)
    for block, text in (
        (wider, "RuntimeError: The size of tensor a (128)"),
        (smaller, "RuntimeError: The size of tensor a (16)"),
    ):
        block.downsample = nn.Identity()
        with raises_as_documented(PAGE, text):
            block(x)


def test_an_inplace_relu_first_changes_what_the_shortcut_adds():
    branch = nn.Sequential(nn.ReLU(inplace=True), nn.Conv2d(4, 4, 3, padding=1))
    x = torch.randn(2, 4, 8, 8)
    kept = x.clone()
    wrong = branch(x) + x
    assert torch.equal(x, kept.relu())
    torch.testing.assert_close(wrong, branch[1](kept.relu()) + kept.relu())
    block = ResidualBlock(4, 4)
    block.relu.inplace = True
    before, start = block(kept), kept.clone()
    assert torch.equal(kept, start)
    block.relu.inplace = False
    assert torch.equal(block(kept), before)


def test_variants():
    assert Bottleneck(256, 64)(torch.rand(2, 256, 4, 4)).shape == (2, 256, 4, 4)
    se, x = SqueezeExcitation(32, 2), torch.rand(2, 32, 4, 4)
    ratio = se(x) / x
    assert torch.allclose(ratio, ratio[:, :, :1, :1].expand_as(ratio))
    norm = nn.GroupNorm(32, 64)
    assert norm(F.relu(torch.randn(1, 64, 1, 1))).shape == (1, 64, 1, 1)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_bfloat16_and_another_device(device):
    model = ResidualBlock(2, 4, stride=2).to(device, torch.bfloat16)
    y = model(torch.ones(3, 2, 7, 5, device=device, dtype=torch.bfloat16))
    assert (y.dtype, y.device.type) == (torch.bfloat16, device)
