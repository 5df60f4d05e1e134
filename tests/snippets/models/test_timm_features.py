"""timm-features: vectors and maps against hooks on the model's own layers."""

import copy
import runpy
import time
from functools import cache

import pytest
import safetensors.torch
import timm
import torch
from huggingface_hub import constants
from torch import nn
from torchvision import transforms

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "models/timm_features.py"
PAGE = "models/timm-features"
VIT = "vit_tiny_patch16_224"
SWIN = "swin_tiny_patch4_window7_224"
snippet = load_snippet(SNIPPET)


@cache
def build_once(name, options):
    torch.manual_seed(0)
    return timm.create_model(name, pretrained=False, **dict(options)).eval()


def build(name="test_resnet", **options):  # timm's own, a small one
    return copy.deepcopy(build_once(name, tuple(options.items())))


@pytest.fixture
def images():
    return torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))


def test_the_snippets_vectors_are_the_mean_of_the_last_map_of_its_model():
    model, seen = snippet.model, []
    model.layer4.register_forward_hook(lambda module, args, y: seen.append(y))
    model(snippet.images)
    expected = seen[0].detach().double().mean((2, 3))
    torch.testing.assert_close(snippet.vectors.double(), expected)
    assert snippet.vectors.shape == (2, 512)
    assert not snippet.vectors.requires_grad
    assert not snippet.vectors.is_inference()  # or it could not train a layer


def test_the_snippets_maps_are_those_of_the_stages():
    stages, seen = snippet.stages, []
    for name in ("act1", "layer1", "layer2", "layer3", "layer4"):
        stages[name].register_forward_hook(lambda module, args, y: seen.append(y))
    stages(snippet.images)
    torch.testing.assert_close(snippet.maps, [y.detach() for y in seen])
    assert [x.shape[2] for x in snippet.maps] == [112, 56, 28, 14, 7]
    assert snippet.stages.feature_info.channels() == [x.shape[1] for x in snippet.maps]
    assert not any(m.training for m in [*stages.modules(), *snippet.model.modules()])
    assert not any(x.requires_grad for x in snippet.maps)


def test_the_snippet_with_its_switch_turned_on_asks_for_weights(monkeypatch):
    source = (ROOT / "snippets" / SNIPPET).read_text()
    on = source.replace("num_classes=0)", "num_classes=0, pretrained=True)")
    on = on.replace("features_only=True)", "features_only=True, pretrained=True)")
    assert len(on) == len(source) + 2 * len(", pretrained=True")
    asked, weights = [], build("resnet18").state_dict()

    def load(name, *args, **kwargs):
        asked.append(name)
        return dict(weights)

    monkeypatch.setattr("timm.models._builder.load_state_dict_from_hf", load)
    names = {}
    exec(on, names)
    assert asked == ["timm/resnet18.a1_in1k"] * 2
    for model in (names["model"], names["stages"]):
        assert torch.equal(model.state_dict()["conv1.weight"], weights["conv1.weight"])


@pytest.mark.parametrize(
    ("name", "width", "options"),
    [
        ("test_resnet", 96, {}),
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
        assert model(images).shape == (2, 1000)
    x = model.forward_features(images)
    features = model.forward_head(x, pre_logits=True)
    assert features.shape == (2, width)
    torch.testing.assert_close(features, seen["features"])
    assert (width == model.num_features) == (name != "mobilenetv3_small_100")

    model.reset_classifier(0)  # num_classes=0 at the start does the same
    torch.testing.assert_close(model(images), features)
    assert build(name, num_classes=0, **options)(images).shape == (2, width)


def test_in_train_mode_an_image_depends_on_its_batch(images):
    model = build(num_classes=0)
    torch.testing.assert_close(model(images[:1]), model(images)[:1])
    before = model.layer1[0].bn1.running_mean.clone()
    model.train()
    with torch.no_grad():
        assert not torch.allclose(model(images[:1]), model(images)[:1])
    assert not torch.equal(model.layer1[0].bn1.running_mean, before)
    assert timm.create_model("test_resnet").training  # a new model is


def test_some_stages_only(images):
    stages = build(features_only=True, out_indices=(2, 3, 4))
    assert stages.feature_info.reduction() == [8, 16, 32]
    assert [x.shape[2] for x in stages(images)] == [8, 4, 2]


def test_a_vit_has_maps_of_one_size_and_swin_puts_channels_last(images):
    vit = build(VIT, img_size=64, depth=3, features_only=True)
    assert set(vit.feature_info.reduction()) == {16}
    assert {x.shape for x in vit(images)} == {(2, 192, 4, 4)}
    model = build(VIT, img_size=64, depth=3)
    tokens = model.forward_features(images)
    assert tokens.shape == (2, model.num_prefix_tokens + 4 * 4, 192)
    maps = model.forward_intermediates(images, intermediates_only=True)
    assert [x.shape for x in maps] == 3 * [(2, 192, 4, 4)]
    small = {"img_size": 64, "window_size": 2, "depths": (1,) * 4, "embed_dim": 24}
    swin = build(SWIN, features_only=True, **small)
    assert swin(images)[-1].shape == (2, 2, 2, 192)  # (N, h, w, C)


def test_the_names_list_models_gives():
    with_weights = snippet.names
    assert all("." in name and name.startswith("resnet") for name in with_weights)
    assert {"resnet18.a1_in1k", "resnet18.tv_in1k"} <= set(with_weights)
    everything = timm.list_models("resnet*")
    assert "resnet18" in everything
    assert not any("." in name for name in everything)
    assert {name.split(".")[0] for name in with_weights} <= set(everything)
    assert timm.is_model("resnet18")
    assert not timm.is_model("resnet-18")
    assert "resnet18" in timm.list_models("*resnet*18*")
    assert "resnet18.a1_in1k" in timm.list_models("*resnet*18*", pretrained=True)
    several = timm.list_models(["resnet*", "vit_*"], exclude_filters="*_tiny*")
    assert "resnet18" in several
    assert "vit_base_patch16_224" in several
    assert VIT not in several


@pytest.mark.parametrize("suffix", ["pth", "safetensors"])
def test_weights_from_a_local_file(images, tmp_path, suffix):
    model, file = build(), tmp_path / f"weights.{suffix}"
    with torch.no_grad():
        model.fc.bias += 1
        model.layer4[0].conv1.weight += 1
    if suffix == "pth":
        torch.save(model.state_dict(), file)
    else:
        safetensors.torch.save_file(model.state_dict(), file)
    features = model.forward_features(images)
    for options, expected in [
        ({}, model(images)),
        ({"num_classes": 0}, model.forward_head(features, pre_logits=True)),
    ]:
        loaded = timm.create_model(
            "test_resnet",
            pretrained=True,
            pretrained_cfg_overlay={"file": str(file)},
            **options,
        )
        torch.testing.assert_close(loaded.eval()(images), expected)
    stages = timm.create_model(
        "test_resnet",
        pretrained=True,
        pretrained_cfg_overlay={"file": str(file)},
        features_only=True,
    )
    torch.testing.assert_close(stages.eval()(images)[-1], features)


def test_each_model_has_its_own_normalisation():
    means = {}
    for name in ("test_resnet", VIT):
        config = timm.data.resolve_model_data_config(build(name))
        means[name] = config["mean"]
        prepare = timm.data.create_transform(**config, is_training=False)
        image = transforms.ToPILImage()(torch.zeros(3, 300, 400))
        x = prepare(image)
        expected = -config["mean"][0] / config["std"][0]
        torch.testing.assert_close(x[0], torch.full_like(x[0], expected))
    assert means[VIT] == (0.5, 0.5, 0.5)


def test_timm_turns_checkpointing_on(images):
    """The variant of activation-checkpointing."""
    model = build().train()
    model.set_grad_checkpointing()
    model(images).sum().backward()
    # Both runs of a block count.
    assert model.layer1[0].bn1.num_batches_tracked == 2


def test_the_variable_of_a_mirror(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "https://hf-mirror.com")
    assert runpy.run_path(constants.__file__)["ENDPOINT"] == "https://hf-mirror.com"


def test_a_download_that_fails(monkeypatch, tmp_path):
    """A server that nobody runs in place of huggingface.co; no waiting to retry."""
    address = "http://127.0.0.1:9"
    template = address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with raises_as_documented(PAGE, "LocalEntryNotFoundError: An error happened"):
        timm.create_model("test_resnet", pretrained=True, cache_dir=tmp_path)


def test_the_documented_errors(images):
    with raises_as_documented(PAGE, "RuntimeError: Unknown model (resnet-18)"):
        timm.create_model("resnet-18")
    with raises_as_documented(PAGE, "RuntimeError: Invalid pretrained tag"):
        timm.create_model("resnet18.imagenet")
    with raises_as_documented(PAGE, "AssertionError: Input height (64)"):
        build(VIT)(images)
    with torch.inference_mode():
        features = build(num_classes=0)(images)
    with raises_as_documented(PAGE, "RuntimeError: Inference tensors cannot"):
        nn.Linear(96, 3)(features)
    with torch.no_grad():
        features = build(num_classes=0)(images)
    nn.Linear(96, 3)(features).sum().backward()


def test_a_file_with_a_head_of_ones_own(tmp_path):
    own = build("resnet18", num_classes=10)
    torch.save(own.state_dict(), file := tmp_path / "model.pth")
    overlay = {"file": str(file)}
    options = {"pretrained": True, "pretrained_cfg_overlay": overlay}
    dropped = timm.create_model("resnet18", num_classes=10, **options)
    assert torch.equal(dropped.conv1.weight, own.conv1.weight)
    assert not torch.equal(dropped.fc.weight, own.fc.weight)
    kept = timm.create_model("resnet18", num_classes=10, checkpoint_path=str(file))
    assert torch.equal(kept.fc.weight, own.fc.weight)


def test_stages_belong_to_maps():
    with raises_as_documented(PAGE, "TypeError: ResNet.__init__() got"):
        timm.create_model("resnet18", out_indices=(2, 3, 4))
