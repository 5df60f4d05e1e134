"""modules-vs-children: names against a recursion of our own over __dict__."""

import re

import pytest
import torch
from torch import nn
from torchvision.models import resnet18

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "models/modules-vs-children"
snippet = load_snippet("models/modules_vs_children.py")


def walk(module, prefix=""):
    """All (name, module) pairs of a model whose modules are all distinct."""
    yield prefix.rstrip("."), module
    for name, child in module.__dict__["_modules"].items():
        yield from walk(child, f"{prefix}{name}.")


@pytest.fixture(scope="module")
def resnet():
    with torch.device("meta"):
        return resnet18()


def test_the_snippets_lists():
    model = snippet.model
    assert snippet.parts == [*model.__dict__["_modules"].values()]
    assert snippet.layers == [module for _, module in walk(model)]
    assert [type(m) for m in snippet.layers] == [
        nn.ModuleDict,
        nn.Sequential,
        nn.Conv2d,
        nn.ReLU,
        nn.Linear,
    ]
    assert len(snippet.convs) == 1
    assert snippet.conv is snippet.stem[0]
    assert isinstance(snippet.conv, nn.Conv2d)


def test_every_layer_of_a_resnet_under_its_full_name(resnet):
    assert list(resnet.named_modules()) == list(walk(resnet))
    for name, module in walk(resnet):
        assert resnet.get_submodule(name) is module
    names = {name.rpartition(".")[0] for name in resnet.state_dict()}
    assert names < set(dict(resnet.named_modules()))


def test_children_miss_most_layers(resnet):
    convs = [m for m in resnet.modules() if isinstance(m, nn.Conv2d)]
    assert len(convs) == 17 + 3  # of the paper, and 3 short cuts
    direct = [m for m in resnet.children() if isinstance(m, nn.Conv2d)]
    assert direct == [resnet.conv1]


def test_a_shared_module_appears_once():
    relu = nn.ReLU()
    model = nn.Sequential(nn.Sequential(relu), relu)
    assert [n for n, m in model.named_modules() if m is relu] == ["0.0"]
    everywhere = dict(model.named_modules(remove_duplicate=False))
    assert everywhere["0.0"] is everywhere["1"] is relu


def test_what_is_not_registered_is_not_found():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.plain = [nn.Linear(2, 2)]
            self.listed = nn.ModuleList([nn.Linear(2, 2)])

    model = Net()
    linear = [n for n, m in model.named_modules() if isinstance(m, nn.Linear)]
    assert linear == ["listed.0"]
    assert len(list(model.parameters())) == 2
    assert list(dict(model.named_children())) == ["listed"]


def test_parameters_of_every_module_are_counted_again_and_again():
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 2)))
    each = [sum(p.numel() for p in m.parameters()) for m in model.modules()]
    own = [sum(p.numel() for p in m.parameters(recurse=False)) for m in model.modules()]
    assert each == [6, 6, 6]
    assert own == [0, 0, 6]
    assert sum(p.numel() for p in model.parameters()) == 6


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_variants(lang):
    relu = nn.ReLU()  # one layer in two places
    model = nn.Sequential(nn.Sequential(relu, nn.Linear(2, 2)), relu)
    text = (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8")
    (code,) = re.findall(r"`names = (\[.*nn\.ReLU\)\])`", text)
    names = eval(code, {"nn": nn, "model": model})
    for name in names:
        model.set_submodule(name, nn.GELU())
    kinds = [type(m) for m in model.modules()]
    assert kinds == [nn.Sequential, nn.Sequential, nn.GELU, nn.Linear, nn.GELU]
    for m in [m for m in model.modules() if isinstance(m, nn.Linear)]:
        m.requires_grad_(False)
    assert not any(p.requires_grad for p in model[0][1].parameters())
    seen = []
    model.apply(seen.append)
    assert seen[-1] is model


def test_a_groupnorm_for_each_batchnorm():
    model = nn.Sequential(nn.Conv2d(3, 16, 1), nn.BatchNorm2d(16))
    names = [n for n, m in model.named_modules() if isinstance(m, nn.BatchNorm2d)]
    for name in names:
        new = nn.GroupNorm(8, model.get_submodule(name).num_features)
        model.set_submodule(name, new)
    assert [type(m) for m in model] == [nn.Conv2d, nn.GroupNorm]


def wrap(model, walk):
    """Wrap each ReLU; stop after 50 modules."""
    rounds = 0
    for _, module in walk:
        rounds += 1
        if rounds == 50:
            break
        for name, child in module.named_children():
            if isinstance(child, nn.ReLU):
                setattr(module, name, nn.Sequential(child, nn.Dropout()))
    return rounds


def test_wrapping_while_walking_never_ends():
    model = nn.Sequential(nn.ReLU())
    assert wrap(model, model.named_modules()) == 50
    model = nn.Sequential(nn.ReLU())
    assert wrap(model, list(model.named_modules())) == 2  # the model and the ReLU
    assert [type(m) for m in model[0]] == [nn.ReLU, nn.Dropout]


def test_the_documented_errors(resnet):
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    with raises_as_documented(PAGE, "RuntimeError: dictionary changed size"):
        for name, child in model.named_children():
            if isinstance(child, nn.ReLU):
                model.add_module(f"after_{name}", nn.Dropout())
    with raises_as_documented(PAGE, "RuntimeError: addmm: mat1 and"):
        nn.Sequential(*resnet18().children())(torch.zeros(2, 3, 64, 64))
    with raises_as_documented(PAGE, "AttributeError: ResNet has no"):
        resnet.get_submodule("layer5")


def test_features_without_the_last_layer():
    model = resnet18()
    model.fc = nn.Identity()
    assert model(torch.zeros(2, 3, 32, 32)).shape == (2, 512)
