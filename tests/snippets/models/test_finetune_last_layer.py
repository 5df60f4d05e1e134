"""finetune-last-layer: what moves and what does not, against the original model."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torchvision import models

from tests.helpers import load_snippet, raises_as_documented

HeadOnly = load_snippet("models/finetune_last_layer.py").HeadOnly
PAGE = "models/finetune-last-layer"


@pytest.fixture
def images():
    return torch.randn(4, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def train(model, parameters, images, steps=2):
    target = torch.arange(len(images)) % 3
    optimizer = torch.optim.AdamW(parameters, lr=0.1, weight_decay=0.1)
    for _ in range(steps):
        model.train()  # what every epoch begins with
        optimizer.zero_grad()
        F.cross_entropy(model(images), target).backward()
        optimizer.step()


def moved(module, before):
    state = module.state_dict()
    return {name for name in before if not torch.equal(state[name], before[name])}


def test_logits_are_a_linear_map_of_the_original_features(images):
    backbone = models.resnet18()
    features = {}
    backbone.avgpool.register_forward_hook(
        lambda module, args, output: features.update(out=output.flatten(1))
    )
    model = HeadOnly(backbone, num_classes=3)
    logits = model(images)
    weight, bias = model.head.weight, model.head.bias
    assert logits.shape == (4, 3)
    torch.testing.assert_close(logits, features["out"] @ weight.T + bias)


def test_only_the_head_moves_and_all_of_it(images):
    model = HeadOnly(models.resnet18(), num_classes=3)
    before = copy.deepcopy(model.state_dict())
    train(model, model.parameters(), images)  # even if the optimizer has them all
    assert moved(model, before) == {"head.weight", "head.bias"}
    assert all(p.grad is None for p in model.backbone.parameters())


def test_the_backbone_is_never_in_train_mode(images):
    model = HeadOnly(models.resnet18(), num_classes=3)
    assert not any(module.training for module in model.backbone.modules())
    assert model.train() is model
    assert model.training
    assert model.head.training
    assert not any(module.training for module in model.backbone.modules())
    nn.Sequential(model).train()  # a wrapper calls train of its children
    assert not any(module.training for module in model.backbone.modules())
    model.eval()
    assert not model.head.training


def test_training_leaves_the_features_bit_for_bit(images):
    model = HeadOnly(models.resnet18(), num_classes=3)
    before = model.backbone(images)
    train(model, model.head.parameters(), images)
    assert torch.equal(model.backbone(images), before)
    assert not before.requires_grad  # so no graph was kept for it


def test_without_the_override_batchnorm_drifts(images):
    model = models.resnet18().requires_grad_(False)
    model.fc = nn.Linear(model.fc.in_features, 3)
    before = copy.deepcopy(model.state_dict())
    train(model, model.fc.parameters(), images)
    assert "bn1.running_mean" in moved(model, before)
    assert "bn1.weight" not in moved(model, before)


def test_the_unfreezing_variant(images):
    target = torch.tensor([0, 1, 2, 0])
    model = HeadOnly(models.resnet18(), num_classes=3)
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=0.1)
    layer4 = model.backbone.layer4.requires_grad_(True)
    before = copy.deepcopy(model.state_dict())
    F.cross_entropy(model(images), target).backward()
    optimizer.step()
    assert layer4[0].conv1.weight.grad is not None
    assert moved(model, before) == {"head.weight", "head.bias"}

    optimizer.add_param_group({"params": layer4.parameters(), "lr": 1e-5})
    optimizer.step()
    names = {name for name, _ in layer4.named_parameters(prefix="backbone.layer4")}
    assert moved(model, before) == {"head.weight", "head.bias"} | names


def test_widths_and_last_layers_the_page_names():
    with torch.device("meta"):
        for build, width in [
            (models.resnet18, 512),
            (models.resnet34, 512),
            (models.resnet50, 2048),
            (models.resnet152, 2048),
        ]:
            assert HeadOnly(build(), num_classes=5).head.in_features == width
        for build in [
            models.mobilenet_v2,
            models.mobilenet_v3_small,
            models.efficientnet_b0,
            models.vgg11,
            models.convnext_tiny,
        ]:
            last = list(build().modules())[-1]
            assert isinstance(last, nn.Linear)
            model = build()
            assert model.classifier[-1] is list(model.modules())[-1]
        vit = models.vit_b_16()
        assert vit.heads.head.out_features == 1000


def test_the_documented_errors(images):
    weights = models.ResNet18_Weights.DEFAULT
    with raises_as_documented(PAGE):
        models.resnet18(weights=weights, num_classes=5)
    with raises_as_documented(PAGE):
        models.resnet18(pretrained=True)
    with raises_as_documented(PAGE):
        nn.Linear(512, 5)(torch.ones(2, models.resnet50().fc.in_features))
    model = models.resnet18()
    model.fc = nn.Linear(model.fc.in_features, 5)
    model.requires_grad_(False)
    with raises_as_documented(PAGE):
        model(images).sum().backward()


def test_the_transforms_prepare_images_without_a_download():
    prepare = models.ResNet18_Weights.DEFAULT.transforms()
    assert prepare(torch.zeros(3, 300, 400, dtype=torch.uint8)).shape == (3, 224, 224)
