"""edit-model-layers: outputs before and after each edit, and each pitfall."""

import copy

import pytest
import torch
from torch import nn
from torchvision.models import get_model, resnet18

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/edit-model-layers"
snippet = load_snippet("models/edit_model_layers.py")
x = torch.randn(1, 3, 32, 32)
RESNET = resnet18(weights=None).eval()


@pytest.fixture
def model():
    return copy.deepcopy(RESNET)


def test_the_snippet_edits_what_it_says():
    model = snippet.model
    assert model(snippet.images).shape == (2, 10)
    assert isinstance(model.maxpool, nn.Identity)
    assert isinstance(model.layer4[1].relu, nn.GELU)
    assert isinstance(model.layer4[0].relu, nn.ReLU)
    assert [type(part).__name__ for part in model.avgpool] == [
        "AdaptiveAvgPool2d",
        "Dropout",
    ]
    assert model.avgpool[1].p == 0.2


def test_the_channels_of_the_first_layer():
    conv = snippet.model.conv1
    assert torch.equal(conv.weight[:, :3], snippet.old.weight)
    assert not conv.weight[:, 3:].any()
    assert snippet.images.shape == (2, 4, 64, 64)
    old = snippet.old
    for name in ("stride", "padding", "kernel_size", "bias", "out_channels"):
        assert getattr(conv, name) == getattr(old, name)


def test_the_answer_alone_changes_the_input_channels_only(model):
    answer = recipes()["edit-model-layers"].answer
    kinds = [type(layer) for layer in model.modules()]
    images = torch.randn(1, 4, 32, 32)
    expected = model(images[:, :3])
    exec(answer.text, {"model": model})
    torch.testing.assert_close(model(images), expected)
    assert [type(layer) for layer in model.modules()] == kinds
    assert model.conv1.weight.requires_grad
    assert not model.conv1.weight.grad_fn


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_the_new_layer_is_where_the_model_is(model, device):
    answer = recipes()["edit-model-layers"].answer
    model.to(device, torch.bfloat16)
    exec(answer.text, {"model": model})
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


def test_what_has_no_effect(model):
    model.classifier = nn.Linear(512, 10)
    model.fc.out_features = 10
    model.set_submodule("layer4.1.bn9", nn.Identity())
    assert model(x).shape == (1, 1000)
    with pytest.raises(AttributeError, match="bn8"):
        model.set_submodule("layer4.1.bn8", nn.Identity(), strict=True)


def test_features(model):
    model.fc = nn.Identity()
    assert model(x).shape == (1, 512)


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


def test_small_images(model):
    model.conv1 = nn.Conv2d(3, 64, kernel_size=3, stride=1, padding=1, bias=False)
    model.maxpool = nn.Identity()
    assert model.maxpool(model.conv1(x)).shape == (1, 64, 32, 32)
    assert model(x).shape == (1, 1000)


def test_the_optimizer_keeps_the_old_layer(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model.fc = nn.Linear(512, 10)
    before = model.fc.weight.clone()
    model(x).sum().backward()
    optimizer.step()
    assert torch.equal(model.fc.weight, before)


def test_a_number_is_not_enough(model):
    model.conv1.in_channels = 4
    with raises_as_documented(PAGE, "RuntimeError: Given groups=1"):
        model(snippet.images)


def test_weights_after_the_edit(model):
    weights = model.state_dict()
    model.fc = nn.Linear(512, 10)
    del weights["fc.bias"]
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading"):
        model.load_state_dict(weights, strict=False)


def test_del(model):
    del model.maxpool
    with raises_as_documented(PAGE, "AttributeError: 'ResNet' object has no"):
        model(x)


def test_a_tensor_for_a_weight(model):
    with raises_as_documented(PAGE, "TypeError: cannot assign"):
        model.conv1.weight = torch.zeros(64, 4, 7, 7)


def test_a_path_that_is_wrong(model):
    with raises_as_documented(PAGE, "AttributeError: ResNet has no"):
        model.set_submodule("layer9.0", nn.Identity())


def test_a_number_for_a_name(model):
    with raises_as_documented(PAGE, "TypeError: 'ResNet' object is not"):
        model[0]
