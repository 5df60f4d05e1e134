"""edit-model-layers: outputs before and after each edit, and each pitfall."""

import copy

import pytest
import torch
from torch import nn
from torchvision.models import resnet18

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/edit-model-layers"
snippet = load_snippet("models/edit_model_layers.py")
x = torch.randn(1, 3, 32, 32)
RESNET = resnet18(weights=None).eval()


@pytest.fixture
def model():
    return copy.deepcopy(RESNET)


def test_the_answer_edits_what_it_says(model):
    answer = recipes()["edit-model-layers"].answer
    assert set(answer.yours) == {"model"}
    exec(answer.text, {"model": model})
    assert model(x).shape == (1, 10)
    assert str(model) == str(snippet.model)
    assert isinstance(model.maxpool, nn.Identity)
    assert isinstance(model.layer4[1].relu, nn.GELU)
    assert isinstance(model.layer4[0].relu, nn.ReLU)
    assert [type(part).__name__ for part in model.avgpool] == [
        "AdaptiveAvgPool2d",
        "Dropout",
    ]
    assert model.avgpool[1].p == 0.2


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
