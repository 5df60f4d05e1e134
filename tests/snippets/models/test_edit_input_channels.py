"""edit-model-layers: a first layer for other channels, here and in other models."""

import ast
import copy
import re

import pytest
import torch
from torch import nn
from torchvision.models import get_model, resnet18

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "models/edit-model-layers"
FILE = "models/edit_input_channels.py"
snippet = load_snippet(FILE)
CODE = ast.parse((ROOT / "snippets" / FILE).read_text("utf-8"))
RESNET = resnet18(weights=None).eval()


@pytest.fixture
def model():
    return copy.deepcopy(RESNET)


def change_the_channels(model):
    """Run the file, but for its own model and its claim."""
    skipped = re.compile("model = resnet18|images =|before =|torch.testing")
    body = [n for n in CODE.body if not skipped.match(ast.unparse(n))]
    exec(compile(ast.Module(body, []), "answer", "exec"), {"model": model})


def test_the_channels_of_the_first_layer():
    conv = snippet.model.conv1
    assert torch.equal(conv.weight[:, :3], snippet.old.weight)
    assert not conv.weight[:, 3:].any()
    assert snippet.images.shape == (2, 4, 64, 64)
    old = snippet.old
    for name in ("stride", "padding", "kernel_size", "bias", "out_channels"):
        assert getattr(conv, name) == getattr(old, name)


def test_the_input_channels_alone_change(model):
    kinds = [type(layer) for layer in model.modules()]
    images = torch.randn(1, 4, 32, 32)
    expected = model(images[:, :3])
    change_the_channels(model)
    torch.testing.assert_close(model(images), expected)
    assert [type(layer) for layer in model.modules()] == kinds
    assert model.conv1.weight.requires_grad
    assert not model.conv1.weight.grad_fn


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_the_new_layer_is_where_the_model_is(model, device):
    model.to(device, torch.bfloat16)
    change_the_channels(model)
    images = torch.ones(1, 4, 32, 32, device=device, dtype=torch.bfloat16)
    assert model(images).dtype == torch.bfloat16


def test_a_channel_of_zeros_gets_gradients():
    snippet.model(snippet.images).square().sum().backward()
    assert snippet.model.conv1.weight.grad[:, 3:].abs().sum() > 0


def test_grey_images(model):
    grey = torch.randn(1, 1, 32, 32)
    wanted = model(grey.expand(-1, 3, -1, -1))
    old = model.conv1
    model.conv1 = nn.Conv2d(1, 64, 7, stride=2, padding=3, bias=False)
    with torch.no_grad():
        model.conv1.weight.copy_(old.weight.sum(1, keepdim=True))
    torch.testing.assert_close(model(grey), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "path", "biased"),
    [
        ("efficientnet_b0", "features.0.0", False),
        ("mobilenet_v3_small", "features.0.0", False),
        ("convnext_tiny", "features.0.0", True),
        ("vgg11", "features.0", True),
        ("vit_b_16", "conv_proj", True),
    ],
)
def test_the_first_layer_of_other_models(name, path, biased):
    with torch.device("meta"):
        model = get_model(name, weights=None)
    first = next(m for m in model.modules() if isinstance(m, nn.Conv2d))
    assert model.get_submodule(path) is first
    assert first.in_channels == 3
    assert (first.bias is not None) == biased


def test_a_number_is_not_enough(model):
    model.conv1.in_channels = 4
    with raises_as_documented(PAGE, "RuntimeError: Given groups=1"):
        model(snippet.images)
