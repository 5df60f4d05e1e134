"""load-partial-weights: which values moved, against the tensors themselves."""

import copy
from collections import OrderedDict

import pytest
import torch
from torch import nn
from torchvision.models import resnet18

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("models/load_partial_weights.py")
load_matching, classifier = snippet.load_matching, snippet.classifier
PAGE = "models/load-partial-weights"


def net(**layers):
    return nn.Sequential(OrderedDict(layers))


def test_key_and_shape_decide():
    model = net(a=nn.Linear(2, 3), b=nn.Linear(3, 4), c=nn.Linear(4, 1))
    old = net(a=nn.Linear(2, 3), b=nn.Linear(3, 5), d=nn.Linear(4, 1))
    before, weights = copy.deepcopy(model.state_dict()), old.state_dict()
    given = dict(weights)
    missing, unused = load_matching(model, weights)
    assert missing == ["b.weight", "b.bias", "c.weight", "c.bias"]
    assert unused == ["b.weight", "b.bias", "d.weight", "d.bias"]
    for key, value in model.state_dict().items():
        assert torch.equal(value, (before if key in missing else weights)[key])
    assert weights == given  # the same tensors under the same keys
    assert not torch.equal(model.a.weight, before["a.weight"])


def test_shapes_that_would_broadcast_do_not_fit():
    model = net(a=nn.Linear(2, 3))
    weights = {"a.weight": torch.ones(1, 2), "a.bias": torch.ones(3)}
    assert load_matching(model, weights) == (["a.weight"], ["a.weight"])
    assert model.a.bias.tolist() == [1, 1, 1]


def test_all_and_nothing():
    model, twin = classifier(5), classifier(5)
    assert load_matching(model, twin.state_dict()) == ([], [])
    x = torch.randn(3, 8)
    assert torch.equal(model(x), twin(x))

    before = copy.deepcopy(model.state_dict())
    wrapped = {f"module.{key}": value for key, value in twin.state_dict().items()}
    with pytest.raises(ValueError, match="nothing fits") as caught:
        load_matching(model, wrapped)
    assert str(caught.value) == (
        "nothing fits: model ['body.weight', 'body.bias', 'head.weight'], state "
        "dict ['module.body.weight', 'module.body.bias', 'module.head.weight']"
    )
    for key, value in model.state_dict().items():
        assert torch.equal(value, before[key])


def test_a_training_checkpoint_is_not_a_state_dict():
    checkpoint = {"epoch": 3, "model": classifier(5).state_dict()}
    with pytest.raises(ValueError, match=r"state dict \['epoch', 'model'\]"):
        load_matching(classifier(5), checkpoint)


def test_a_resnet_with_another_number_of_classes_buffers_included():
    old, model = resnet18(), resnet18(num_classes=5)
    old.bn1.running_mean.fill_(3)
    old.bn1.num_batches_tracked.fill_(9)
    missing, unused = load_matching(model, old.state_dict())
    assert missing == unused == ["fc.weight", "fc.bias"]
    assert model.bn1.running_mean.tolist() == [3] * 64
    assert model.bn1.num_batches_tracked == 9


def test_a_missing_buffer_is_reported():
    weights = nn.BatchNorm1d(2).state_dict()
    del weights["num_batches_tracked"]
    assert load_matching(nn.BatchNorm1d(2), weights) == (["num_batches_tracked"], [])


def test_other_dtypes_and_an_optimizer_made_before():
    model, old = classifier(5), classifier(5).double()
    weight = model.body.weight
    load_matching(model, old.state_dict())
    assert model.body.weight is weight
    assert weight.dtype == torch.float32
    torch.testing.assert_close(weight, old.body.weight.float())


def test_the_models_map_to_logits():
    model, x = classifier(7), torch.randn(3, 8)
    assert model(x).shape == (3, 7)
    torch.testing.assert_close(model(x), model.head(model.body(x).clamp(min=0)))


def test_strict_false_accepts_names_but_not_shapes():
    model, old = classifier(5), classifier(1000)
    with raises_as_documented(PAGE) as caught:
        model.load_state_dict(old.state_dict(), strict=False)
    assert (
        "size mismatch for head.weight: copying a param with shape "
        "torch.Size([1000, 16]) from checkpoint, the shape in current model is "
        "torch.Size([5, 16])."
    ) in str(caught.value)
    report = model.load_state_dict({"typo": torch.ones(1)}, strict=False)
    assert len(report.missing_keys) == 4
    assert report.unexpected_keys == ["typo"]


def test_a_failed_load_has_already_copied_what_fits():
    model, old = classifier(5), classifier(1000)
    with pytest.raises(RuntimeError, match="size mismatch"):
        model.load_state_dict(old.state_dict())
    assert torch.equal(model.body.weight, old.body.weight)


def test_update_brings_in_foreign_keys():
    model = classifier(5)
    merged = model.state_dict()
    merged.update({"foreign.weight": torch.ones(1)})
    with raises_as_documented(PAGE) as caught:
        model.load_state_dict(merged)
    assert 'Unexpected key(s) in state_dict: "foreign.weight"' in str(caught.value)


def test_the_variants():
    old = net(features=nn.Linear(2, 3), head=nn.Linear(3, 4)).state_dict()
    model = net(body=nn.Linear(2, 3), head=nn.Linear(3, 4))
    renamed = {key.replace("features.", "body.", 1): old[key] for key in old}
    assert load_matching(model, renamed) == ([], [])
    assert torch.equal(model.body.weight, old["features.weight"])

    part = {
        key.removeprefix("features."): value
        for key, value in old.items()
        if key.startswith("features.")
    }
    model.body.load_state_dict(part)
    for key in "head.weight", "head.bias":
        del old[key]
    other = net(features=nn.Linear(2, 3), head=nn.Linear(3, 9))
    report = other.load_state_dict(old, strict=False)
    assert report.missing_keys == ["head.weight", "head.bias"]
