"""extract-features: each output against the layers called one by one."""

import contextlib
import io

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torch.fx.proxy import TraceError
from torchvision.models import resnet18
from torchvision.models.feature_extraction import (
    create_feature_extractor,
    get_graph_node_names,
)
from torchvision.utils import save_image

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/extract-features"
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    snippet = load_snippet("models/extract_features.py")  # builds its ResNet once


@torch.no_grad()
def by_hand(model: nn.Module, images: torch.Tensor) -> dict[str, torch.Tensor]:
    """The two outputs, as the source of ResNet computes them."""
    x = model.maxpool(model.relu(model.bn1(model.conv1(images))))
    layer3 = model.layer3(model.layer2(model.layer1(x)))
    pooled = model.layer4(layer3).mean((2, 3))
    return {"layer3": layer3, "flatten": pooled}


def test_the_features_are_those_of_the_layers():
    expected = by_hand(snippet.model, snippet.images)
    assert list(snippet.features) == list(expected)
    for name, x in snippet.features.items():
        torch.testing.assert_close(x, expected[name])
        assert not x.requires_grad
    torch.testing.assert_close(snippet.hooked["layer3"], expected["layer3"])
    assert not snippet.hooked["layer3"].requires_grad


def test_the_answer_on_a_model_in_train_mode():
    model, names = resnet18(weights=None).train(), {"images": torch.randn(1, 3, 40, 56)}
    exec(recipes()["extract-features"].answer.text, names | {"model": model}, names)
    expected = by_hand(model.eval(), names["images"])  # of one image, no batch
    torch.testing.assert_close(names["features"], expected)
    assert model.bn1.num_batches_tracked == 0


@torch.no_grad()
def test_an_in_place_relu_overwrites_the_layer_before_it():
    model, images = resnet18(weights=None).eval(), torch.randn(1, 3, 32, 32)
    extractor = create_feature_extractor(model, ["bn1", "flatten"])
    assert extractor(images)["bn1"].min() == 0
    for m in model.modules():
        m.inplace = False
    extractor = create_feature_extractor(model, ["bn1", "flatten"])
    expected = model.bn1(model.conv1(images))
    torch.testing.assert_close(extractor(images)["bn1"], expected)


def test_the_hook_is_gone():
    assert not snippet.model.layer3._forward_hooks


def test_the_printed_shapes():
    assert printed.getvalue() == "layer3 (2, 256, 4, 4)\nflatten (2, 512)\n"


def test_a_name_that_is_not_there():
    with raises_as_documented(PAGE, "ValueError: node: 'layer9' is not present"):
        create_feature_extractor(nn.Sequential(nn.ReLU()), ["layer9"])


def test_functions_have_names_of_their_own():
    _, names = get_graph_node_names(snippet.model)
    modules = [name for name, _ in snippet.model.named_modules()]
    assert {"flatten", "layer4.1.add", "layer4.1.relu_1"} <= set(names)
    assert not {"flatten", "layer4.1.add", "layer4.1.relu_1"} & set(modules)


def test_control_flow_is_not_traced():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)

        def forward(self, x):
            return self.fc(x) if x.sum() > 0 else x

    with raises_as_documented(PAGE, "TraceError: symbolically traced variables"):
        create_feature_extractor(Net(), ["fc"])


@pytest.mark.parametrize("wrap", [nn.DataParallel, torch.compile])
def test_a_wrapped_model(wrap):
    model, x = nn.Sequential(nn.Linear(3, 4), nn.ReLU()), torch.randn(2, 3)
    wrapped = wrap(model)
    with pytest.raises((TraceError, NotImplementedError)):
        create_feature_extractor(wrapped, ["0"])
    inner = wrapped.module if wrap is nn.DataParallel else wrapped._orig_mod
    found = create_feature_extractor(inner, ["0"])(x)["0"]
    torch.testing.assert_close(found, x @ model[0].weight.T + model[0].bias)


def test_in_train_mode_the_batch_changes_the_features():
    model, x = nn.Sequential(nn.BatchNorm1d(4), nn.ReLU()), torch.randn(9, 4)
    extractor = create_feature_extractor(model, ["1"])
    assert not torch.allclose(extractor(x[:2])["1"], extractor(x)["1"][:2], atol=1e-3)
    extractor.eval()
    torch.testing.assert_close(extractor(x[:2])["1"], extractor(x)["1"][:2])
    assert extractor.training is False


def test_a_sequential_of_the_children_has_no_flatten():
    body = nn.Sequential(*list(snippet.model.children())[:-1])
    with torch.no_grad():
        x = body(snippet.images)
    assert x.shape == (2, 512, 1, 1)
    torch.testing.assert_close(x.flatten(1), snippet.features["flatten"])


def test_the_variants():
    model, images = snippet.model, snippet.images[:, :, :32, :32]
    named = create_feature_extractor(model, {"flatten": "vector", "fc": "logits"})
    with torch.no_grad():
        out, logits = named(images), model(images)
        fc, model.fc = model.fc, nn.Identity()
        vector = model(images)
    model.fc = fc
    torch.testing.assert_close(out["logits"], logits)
    torch.testing.assert_close(out["vector"], vector)


def test_what_is_not_needed_is_left_out():
    small = create_feature_extractor(snippet.model, ["layer2"])
    count = lambda module: sum(p.numel() for p in module.parameters())  # noqa: E731
    assert count(small) < 0.1 * count(snippet.model)


def test_the_maps_are_drawn(tmp_path):
    maps = snippet.features["layer3"][0]  # (256, 4, 4)
    file = tmp_path / "maps.png"
    save_image(maps[:, None], file, nrow=16, normalize=True, scale_each=True)
    with Image.open(file) as picture:
        assert picture.size == (16 * (4 + 2) + 2, 16 * (4 + 2) + 2)
        pixels = np.asarray(picture)
    k = int(maps.flatten(1).std(1).argmax())  # a channel that is not all 0
    row, column = 6 * (k // 16) + 2, 6 * (k % 16) + 2
    tile = pixels[row : row + 4, column : column + 4]
    assert (tile == tile[..., :1]).all()
    assert (tile.min(), tile.max()) == (0, 255)
    assert tile[..., 0].argmax() == maps[k].argmax()
