"""load-partial-weights: which values moved, against the tensors themselves."""

import contextlib
import copy
from collections import OrderedDict

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "models/load-partial-weights"
SOURCE = (ROOT / "snippets/models/load_partial_weights.py").read_text("utf-8")
LOOP = compile(SOURCE[SOURCE.index("for key, own") :].split("\n\n")[0], PAGE, "exec")


@pytest.fixture(scope="module")
def snippet(tmp_path_factory):
    """The file, run where its weights seem to come from a second GPU."""
    folder = tmp_path_factory.mktemp("run")
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.serialization, "location_tag", lambda _: "cuda:1")
        patch.setattr(torch.cuda, "is_available", lambda: False)
        module = load_snippet("models/load_partial_weights.py")
    module.pretrained = torch.load(
        folder / "pretrained.pt", map_location="cpu", weights_only=True
    )
    return module


def load(model, weights):
    """The snippet's own lines, on other models and weights."""
    names = {"torch": torch, "model": model, "weights": weights}
    exec(LOOP, names)
    return names["missing"], names["unexpected"]


def net(**layers):
    return nn.Sequential(OrderedDict(layers))


def classifier(num_classes):
    return net(body=nn.Linear(8, 16), head=nn.Linear(16, num_classes))


def test_a_resnet_with_another_number_of_classes(snippet):
    assert snippet.missing == ["fc.weight", "fc.bias"]
    assert snippet.unexpected == []
    assert snippet.pretrained["fc.weight"].shape == (1000, 512)
    for key, value in snippet.model.state_dict().items():
        if key not in snippet.missing:
            assert torch.equal(value, snippet.pretrained[key])
    assert snippet.model.fc.weight.shape == (5, 512)


def test_key_and_shape_decide():
    model = net(a=nn.Linear(2, 3), b=nn.Linear(3, 4), c=nn.Linear(4, 1))
    old = net(a=nn.Linear(2, 3), b=nn.Linear(3, 5), d=nn.Linear(4, 1))
    before, weights = copy.deepcopy(model.state_dict()), old.state_dict()
    missing, unexpected = load(model, weights)
    assert missing == ["b.weight", "b.bias", "c.weight", "c.bias"]
    assert unexpected == ["d.weight", "d.bias"]
    for key, value in model.state_dict().items():
        assert torch.equal(value, (before if key in missing else old.state_dict())[key])
    assert not torch.equal(model.a.weight, before["a.weight"])


@pytest.mark.parametrize("shape", [(1, 2), (2, 3), (6,)], ids=str)
def test_shapes_that_would_broadcast_or_have_as_many_elements_do_not_fit(shape):
    model = net(a=nn.Linear(2, 3))
    weights = {"a.weight": torch.ones(shape), "a.bias": torch.ones(3)}
    assert load(model, weights) == (["a.weight"], [])
    assert model.a.bias.tolist() == [1, 1, 1]


def test_buffers_of_another_size_and_tied_weights():
    model, old = nn.BatchNorm1d(3), nn.BatchNorm1d(2)
    missing, _ = load(model, old.state_dict())
    assert missing == ["weight", "bias", "running_mean", "running_var"]
    tied = [net(a=nn.Embedding(n, 2), b=nn.Linear(2, n, bias=False)) for n in (5, 7)]
    for one in tied:
        one.b.weight = one.a.weight
    assert load(tied[0], tied[1].state_dict()) == (["a.weight", "b.weight"], [])


class Scaled(nn.Linear):
    """A layer with a state that is no tensor."""

    scale = 1

    def get_extra_state(self):
        return {"scale": self.scale}

    def set_extra_state(self, state):
        self.scale = state["scale"]


def test_an_extra_state_is_no_tensor_and_is_loaded():
    old, model = net(a=Scaled(2, 3)), net(a=Scaled(2, 3), b=nn.Linear(3, 1))
    old.a.scale = 7
    assert "a._extra_state" in old.state_dict()
    assert load(model, old.state_dict()) == (["b.weight", "b.bias"], [])
    assert model.a.scale == 7
    # The layer has lost its extra state, or has none yet.
    assert load(net(a=nn.Linear(2, 3)), old.state_dict()) == ([], ["a._extra_state"])
    plain = net(a=nn.Linear(2, 3)).state_dict()
    assert load(net(a=Scaled(2, 3)), plain) == (["a._extra_state"], [])


def test_all_and_nothing():
    model, twin = classifier(5), classifier(5)
    assert load(model, twin.state_dict()) == ([], [])
    assert torch.equal(model.head.bias, twin.head.bias)
    before = copy.deepcopy(model.state_dict())
    wrapped = nn.DataParallel(classifier(5)).state_dict()
    assert load(model, wrapped) == (list(before), [f"module.{key}" for key in before])
    for key, value in model.state_dict().items():
        assert torch.equal(value, before[key])


def test_a_training_checkpoint_is_not_a_state_dict():
    checkpoint = {"epoch": 3, "model_state_dict": classifier(5).state_dict()}
    missing, unexpected = load(classifier(5), dict(checkpoint))
    assert len(missing) == 4
    assert unexpected == ["epoch", "model_state_dict"]
    assert load(classifier(5), checkpoint["model_state_dict"]) == ([], [])


def test_other_dtypes_and_an_optimizer_made_before():
    model, old = classifier(5), classifier(5).double()
    weight = model.body.weight
    load(model, old.state_dict())
    assert model.body.weight is weight
    assert weight.dtype == torch.float32
    torch.testing.assert_close(weight, old.body.weight.float())


def test_strict_false_accepts_names_but_not_shapes(snippet):
    with raises_as_documented(
        PAGE, "RuntimeError: Error(s) in loading state_dict for ResNet:"
    ) as caught:
        snippet.model.load_state_dict(snippet.pretrained, strict=False)
    assert "size mismatch for fc.weight" in str(caught.value)
    report = classifier(5).load_state_dict({"typo": torch.ones(1)}, strict=False)
    assert len(report.missing_keys) == 4
    assert report.unexpected_keys == ["typo"]


def test_update_brings_in_foreign_keys():
    model = classifier(5)
    merged = model.state_dict()
    merged.update({"foreign.weight": torch.ones(1)})
    with raises_as_documented(
        PAGE, "RuntimeError: Error(s) in loading state_dict for Sequential:"
    ) as caught:
        model.load_state_dict(merged)
    assert 'Unexpected key(s) in state_dict: "foreign.weight"' in str(caught.value)


def test_the_variants(tmp_path):
    old = net(features=nn.Linear(2, 3), head=nn.Linear(3, 4)).state_dict()
    model = net(body=nn.Linear(2, 3), head=nn.Linear(3, 4))
    renamed = {key.replace("features.", "body.", 1): old[key] for key in old}
    assert load(model, renamed) == ([], [])
    assert torch.equal(model.body.weight, old["features.weight"])

    part = {
        key.removeprefix("features."): value
        for key, value in old.items()
        if key.startswith("features.")
    }
    model.body.load_state_dict(part)

    save_file(old, tmp_path / "model.safetensors")
    other = net(features=nn.Linear(2, 3), head=nn.Linear(3, 9))
    weights = load_file(tmp_path / "model.safetensors")
    assert load(other, weights) == (["head.weight", "head.bias"], [])
    assert torch.equal(other.features.bias, old["features.bias"])

    del old["head.weight"], old["head.bias"]
    report = other.load_state_dict(old, strict=False)
    assert report.missing_keys == ["head.weight", "head.bias"]
