"""err-size-mismatch: the values that were loaded, and each fix of the page."""

import contextlib

import pytest
import torch
from torch import nn
from torchvision.models import resnet18
from torchvision.models.vision_transformer import (
    VisionTransformer,
    interpolate_embeddings,
)

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "errors/err-size-mismatch"


@pytest.fixture(scope="module")
def snippet(tmp_path_factory):
    """The file, run where its weights seem to come from a second GPU."""
    folder = tmp_path_factory.mktemp("run")
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.serialization, "location_tag", lambda _: "cuda:1")
        patch.setattr(torch.cuda, "is_available", lambda: False)
        return load_snippet("errors/err_size_mismatch.py")


def test_all_is_loaded_but_the_new_head(snippet):
    model, weights = snippet.model, snippet.weights
    assert len(weights["fc.bias"]) == 1000
    own = model.state_dict()
    assert own.keys() == weights.keys()
    for key in weights.keys() - {"fc.weight", "fc.bias"}:
        assert torch.equal(own[key], weights[key])
    assert model.fc.weight.shape == (5, 512)
    assert model.eval()(torch.randn(1, 3, 32, 32)).shape == (1, 5)


def test_a_training_checkpoint_holds_the_weights_one_level_below(tmp_path):
    checkpoint = {"model_state_dict": resnet18(num_classes=7).state_dict()}
    torch.save(checkpoint, tmp_path / "pretrained.pt")
    answer, pasted = recipes()["err-size-mismatch"].answer.text, {}
    with contextlib.chdir(tmp_path):
        with raises_as_documented(PAGE, "KeyError: 'fc.bias'"):
            exec(answer, {})
        load = "weights_only=True)\n"
        assert load in answer
        fix = f'{load}weights = weights["model_state_dict"]\n'
        exec(answer.replace(load, fix), pasted)
    weight = checkpoint["model_state_dict"]["conv1.weight"]
    assert torch.equal(pasted["model"].conv1.weight, weight)


@pytest.mark.parametrize("strict", [True, False])
def test_strict_or_not_the_shapes_must_fit(snippet, strict):
    model = resnet18(num_classes=5)
    with raises_as_documented(
        PAGE, "RuntimeError: Error(s) in loading state_dict for ResNet"
    ) as caught:
        model.load_state_dict(snippet.weights, strict=strict)
    assert str(caught.value).count("size mismatch") == 2  # fc.weight, fc.bias


def test_a_shape_that_would_broadcast_is_refused_too():
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        nn.Linear(4, 2).load_state_dict({"weight": torch.ones(4)}, strict=False)


def test_weights_and_classes_together_in_torchvision():
    with raises_as_documented(PAGE, "ValueError: The parameter 'num_classes'"):
        resnet18(weights="DEFAULT", num_classes=5)  # before any download


def test_grey_images_through_weights_for_colours(snippet):
    weights = dict(snippet.weights)
    weights["conv1.weight"] = weights["conv1.weight"].sum(1, keepdim=True)
    colours, grey = resnet18(), resnet18()
    grey.conv1 = nn.Conv2d(1, 64, 7, stride=2, padding=3, bias=False)
    colours.load_state_dict(snippet.weights)
    grey.load_state_dict(weights)
    x = torch.randn(2, 1, 32, 32)
    expected = colours.eval()(x.expand(-1, 3, -1, -1))
    torch.testing.assert_close(grey.eval()(x), expected, rtol=1e-3, atol=1e-3)


def test_position_embeddings_for_another_image_size():
    def build(image_size):
        return VisionTransformer(image_size, 8, 1, 2, 16, 32)

    weights = build(32).state_dict()
    with pytest.raises(RuntimeError, match=r"mismatch for encoder.pos_embedding"):
        build(64).load_state_dict(weights)
    resized = interpolate_embeddings(64, 8, weights)
    assert resized["encoder.pos_embedding"].shape == (1, 1 + 8 * 8, 16)
    build(64).load_state_dict(resized)


def test_an_optimizer_built_before_holds_the_old_head():
    model = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model[1] = nn.Linear(3, 5)
    before = model[1].weight.clone()
    model(torch.randn(2, 4)).sum().backward()
    optimizer.step()
    assert torch.equal(model[1].weight, before)


def test_timm_replaces_the_head():
    timm = pytest.importorskip("timm")
    assert timm.create_model("resnet18", num_classes=5).fc.out_features == 5
