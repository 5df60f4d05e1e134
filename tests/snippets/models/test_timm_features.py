"""timm-features: vectors and maps against hooks on the model's own layers."""

import copy
from functools import cache

import pytest
import timm
import torch
from torch import nn
from torchvision import transforms

from tests.helpers import load_snippet, raises_as_documented

embed = load_snippet("models/timm_features.py").embed
PAGE = "models/timm-features"
VIT = "vit_tiny_patch16_224"
SWIN = "swin_tiny_patch4_window7_224"


@cache
def build_once(name, options):
    torch.manual_seed(0)
    return timm.create_model(name, pretrained=False, **dict(options)).eval()


def build(name="test_resnet", **options):  # timm's own, a small one
    return copy.deepcopy(build_once(name, tuple(options.items())))


@pytest.fixture
def images():
    return torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("name", "width", "options"),
    [
        ("resnet18", 512, {}),
        (VIT, 192, {"img_size": 64, "depth": 3}),
        ("mobilenetv3_small_100", 1024, {}),  # more than its num_features, 576
    ],
)
def test_the_vector_is_what_enters_the_classifier(name, width, options, images):
    model, seen = build(name, **options), {}
    model.get_classifier().register_forward_hook(
        lambda module, args, output: seen.update(features=args[0])
    )
    with torch.no_grad():
        model(images)
    features = embed(model, images)
    assert features.shape == (2, width)
    torch.testing.assert_close(features, seen["features"])

    model.reset_classifier(0)  # num_classes=0 at the start does the same
    torch.testing.assert_close(model(images), features)


def test_resnet_features_are_the_mean_of_the_last_map(images):
    model = build()
    expected = build(features_only=True)(images)[-1].double().mean((2, 3))
    torch.testing.assert_close(embed(model, images).double(), expected)


def test_num_classes_0_returns_the_vectors_and_the_default_does_not(images):
    assert build(num_classes=0)(images).shape == (2, 96)
    assert build()(images).shape == (2, 1000)
    assert embed(build(num_classes=0), images).shape == (2, 96)


def test_features_have_no_graph_and_can_train_a_new_layer(images):
    features = embed(build(), images)
    assert not features.requires_grad
    assert not features.is_inference()
    nn.Linear(96, 3)(features).sum().backward()
    assert torch.is_grad_enabled()


def test_in_train_mode_an_image_depends_on_its_batch(images):
    model = build()
    torch.testing.assert_close(embed(model, images[:1]), embed(model, images)[:1])
    before = model.layer1[0].bn1.running_mean.clone()
    model.train()
    assert not torch.allclose(embed(model, images[:1]), embed(model, images)[:1])
    assert not torch.equal(model.layer1[0].bn1.running_mean, before)
    assert timm.create_model("resnet18").training  # a new model is


def test_the_maps_are_those_of_the_stages(images):
    model, seen = build(), []
    for stage in (model.layer2, model.layer3, model.layer4):
        stage.register_forward_hook(lambda module, args, output: seen.append(output))
    model(images)
    pyramid = build(features_only=True, out_indices=(2, 3, 4))
    pyramid.load_state_dict(model.state_dict(), strict=False)
    info = pyramid.feature_info
    assert info.reduction() == [8, 16, 32]
    assert info.channels() == [x.shape[1] for x in seen]
    torch.testing.assert_close(pyramid(images), seen[:3])
    intermediates = model.forward_intermediates(
        images, indices=[2, 3, 4], intermediates_only=True
    )
    torch.testing.assert_close(intermediates, seen[3:])


def test_a_vit_has_one_stride_and_swin_puts_channels_last(images):
    vit = build(VIT, img_size=64, depth=3, features_only=True)
    assert set(vit.feature_info.reduction()) == {16}
    assert {x.shape for x in vit(images)} == {(2, 192, 4, 4)}
    tokens = build(VIT, img_size=64, depth=3).forward_features(images)
    assert tokens.shape == (2, 17, 192)
    small = {"img_size": 64, "window_size": 2, "depths": (1,) * 4, "embed_dim": 24}
    swin = build(SWIN, features_only=True, **small)
    assert swin(images)[-1].shape == (2, 2, 2, 192)  # (N, h, w, C)


def test_the_names_list_models_gives():
    with_weights = timm.list_models("resnet*", pretrained=True)
    assert all("." in name and name.startswith("resnet") for name in with_weights)
    assert {"resnet18.a1_in1k", "resnet18.tv_in1k"} <= set(with_weights)
    everything = timm.list_models("resnet*")
    assert "resnet18" in everything
    assert not any("." in name for name in everything)
    assert {name.split(".")[0] for name in with_weights} <= set(everything)
    assert timm.is_model("resnet18")
    assert not timm.is_model("resnet-18")
    assert timm.list_models(["resnet18*", "vit_tiny*"], exclude_filters="*d")


def test_weights_from_a_local_file(images, tmp_path):
    model, file = build(), tmp_path / "weights.pth"
    with torch.no_grad():
        model.fc.bias += 1
        model.layer4[0].conv1.weight += 1
    torch.save(model.state_dict(), file)
    source = {"file": str(file)}
    for options, x in [
        ({}, model(images)),
        ({"num_classes": 0}, embed(model, images)),
    ]:
        loaded = timm.create_model(
            "test_resnet", pretrained=True, pretrained_cfg_overlay=source, **options
        )
        torch.testing.assert_close(loaded.eval()(images), x)
    pyramid = timm.create_model(
        "test_resnet",
        pretrained=True,
        pretrained_cfg_overlay=source,
        features_only=True,
    )
    torch.testing.assert_close(
        pyramid.eval()(images)[-1], model.forward_features(images)
    )


def test_each_model_has_its_own_normalisation():
    means = {}
    for name in ("resnet18", VIT):
        config = timm.data.resolve_model_data_config(build(name))
        means[name] = config["mean"]
        prepare = timm.data.create_transform(**config, is_training=False)
        image = transforms.ToPILImage()(torch.zeros(3, 300, 400))
        x = prepare(image)
        assert x.shape == (3, 224, 224)
        expected = -config["mean"][0] / config["std"][0]
        torch.testing.assert_close(x[0], torch.full((224, 224), expected))
    assert means == {"resnet18": (0.485, 0.456, 0.406), VIT: (0.5, 0.5, 0.5)}


def test_the_documented_errors(images):
    with raises_as_documented(PAGE):
        timm.create_model("resnet-18")
    with raises_as_documented(PAGE):
        timm.create_model("resnet18.imagenet")
    with raises_as_documented(PAGE):
        build(VIT)(images)
    with torch.inference_mode():
        features = build(num_classes=0)(images)
    with raises_as_documented(PAGE):
        nn.Linear(96, 3)(features)
