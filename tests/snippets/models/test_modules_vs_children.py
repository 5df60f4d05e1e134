"""modules-vs-children: names against a recursion of our own over __dict__."""

import pytest
import torch
from torch import nn
from torchvision.models import resnet18

from tests.helpers import load_snippet, raises_as_documented

find_layers = load_snippet("models/modules_vs_children.py").find_layers
PAGE = "models/modules-vs-children"


def walk(module, prefix=""):
    """All (name, module) pairs of a model whose modules are all distinct."""
    yield prefix.rstrip("."), module
    for name, child in module.__dict__["_modules"].items():
        yield from walk(child, f"{prefix}{name}.")


@pytest.fixture(scope="module")
def resnet():
    with torch.device("meta"):
        return resnet18()


@pytest.mark.parametrize("kind", [nn.Conv2d, nn.Linear, nn.Module, nn.LSTM])
def test_every_layer_of_a_resnet_under_its_full_name(resnet, kind):
    expected = [(n, m) for n, m in walk(resnet) if isinstance(m, kind)]
    assert list(find_layers(resnet, kind).items()) == expected
    for name, module in expected:
        assert resnet.get_submodule(name) is module


def test_counts_known_from_the_paper(resnet):
    assert len(find_layers(resnet, nn.Conv2d)) == 17 + 3  # and 3 short cuts
    assert list(find_layers(resnet, nn.Linear)) == ["fc"]
    both = find_layers(resnet, (nn.Linear, nn.AdaptiveAvgPool2d))
    assert list(both) == ["avgpool", "fc"]


def test_the_root_counts_and_subclasses_do():
    layer = nn.Linear(2, 2)
    assert find_layers(layer, nn.Linear) == {"": layer}
    assert find_layers(layer, nn.Conv2d) == {}
    assert list(find_layers(nn.Sequential(nn.BatchNorm1d(2)), nn.Module)) == ["", "0"]


def test_a_shared_module_appears_once():
    relu = nn.ReLU()
    model = nn.Sequential(nn.Sequential(relu), relu)
    assert find_layers(model, nn.ReLU) == {"0.0": relu}
    everywhere = dict(model.named_modules(remove_duplicate=False))
    assert everywhere["0.0"] is everywhere["1"] is relu
    assert len(list(nn.Sequential(relu, relu).children())) == 1


def test_what_is_not_registered_is_not_found():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.plain = [nn.Linear(2, 2)]
            self.listed = nn.ModuleList([nn.Linear(2, 2)])

    model = Net()
    assert list(find_layers(model, nn.Linear)) == ["listed.0"]
    assert len(list(model.parameters())) == 2
    assert list(dict(model.named_children())) == ["listed"]


def test_parameters_of_every_module_are_counted_again_and_again():
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 2)))
    each = [sum(p.numel() for p in m.parameters()) for m in model.modules()]
    own = [sum(p.numel() for p in m.parameters(recurse=False)) for m in model.modules()]
    assert each == [6, 6, 6]
    assert own == [0, 0, 6]


def test_the_variants():
    model = nn.Sequential(nn.Sequential(nn.ReLU(), nn.Linear(2, 2)))
    for name in find_layers(model, nn.ReLU):
        model.set_submodule(name, nn.Sequential(nn.ReLU(), nn.GELU()))
    assert [type(m) for m in model[0][0]] == [nn.ReLU, nn.GELU]
    seen = []
    model.apply(lambda module: seen.append(type(module)))
    assert seen[-1] is nn.Sequential
    assert seen[0] is nn.ReLU  # the deepest first, the model last
    assert next(model.modules()) is model


def test_wrapping_while_walking_never_ends():
    model, rounds = nn.Sequential(nn.ReLU()), 0
    for module in model.modules():
        rounds += 1
        if rounds == 50:
            break
        for name, child in module.named_children():
            if isinstance(child, nn.ReLU):
                setattr(module, name, nn.Sequential(child, nn.Dropout()))
    assert rounds == 50

    model, rounds = nn.Sequential(nn.ReLU()), 0
    for name, child in find_layers(model, nn.ReLU).items():  # collected first
        rounds += 1
        model.set_submodule(name, nn.Sequential(child, nn.Dropout()))
    assert rounds == 1
    assert list(find_layers(model, nn.ReLU)) == ["0.0"]


def test_the_documented_errors(resnet):
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    with raises_as_documented(PAGE):
        for name, child in model.named_children():
            if isinstance(child, nn.ReLU):
                model.add_module(f"after_{name}", nn.Dropout())
    with raises_as_documented(PAGE):
        nn.Sequential(*resnet18().children())(torch.zeros(2, 3, 64, 64))
    with raises_as_documented(PAGE):
        resnet.get_submodule("layer5")
