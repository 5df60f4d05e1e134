"""sequential-modulelist: what is registered, in which order it runs, the messages."""

import copy
from collections import OrderedDict

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/sequential-modulelist"
snippet = load_snippet("models/sequential_modulelist.py")


@pytest.mark.parametrize("depth", [0, 3])
def test_every_layer_is_registered(depth):
    keys = {k.rpartition(".")[0] for k, _ in snippet.Net(depth).named_parameters()}
    blocks = {f"blocks.{i}" for i in range(depth)}
    assert keys == {"stem.0", "heads.a", "heads.b"} | blocks


@pytest.mark.parametrize("head", ["a", "b"])
def test_forward_is_the_residual_network_by_hand(head):
    model, x = snippet.Net(2).double(), torch.randn(4, 8, dtype=torch.float64)
    w = model.state_dict()

    def linear(name, x):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    h = linear("stem.0", x).clamp(min=0)
    for i in range(2):
        h = h + linear(f"blocks.{i}", h).clamp(min=0)
    torch.testing.assert_close(model(x, head), linear(f"heads.{head}", h))
    assert model(x, head).shape == (4, 2)
    if head == "a":
        torch.testing.assert_close(model(x), model(x, "a"))


def test_all_of_it_moves_and_changes_its_dtype():
    model = snippet.Net(2).bfloat16()
    assert model(torch.randn(1, 8).bfloat16()).dtype == torch.bfloat16
    model.to("meta")
    assert model(torch.randn(1, 8, device="meta"), "b").is_meta


def test_a_plain_list_is_not_registered():
    model = nn.Module()
    model.blocks = [nn.Linear(2, 2), nn.Dropout()]
    model.eval().to("meta")
    assert model.blocks[1].training
    assert model.blocks[0].weight.device.type == "cpu"
    assert not model.state_dict()
    assert "Linear" not in repr(model)


def test_the_same_layer_three_times():
    assert len(list(nn.Sequential(*[nn.Linear(2, 2)] * 3).parameters())) == 2
    layer = nn.Linear(2, 2)
    copies = nn.ModuleList(copy.deepcopy(layer) for _ in range(3))
    assert len(list(copies.parameters())) == 6


def test_names_instead_of_numbers():
    named = nn.Sequential(OrderedDict(fc=nn.Linear(8, 16)))
    assert list(named.state_dict()) == ["fc.weight", "fc.bias"]


def test_add_and_remove():
    a, b, c = nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)
    stem = nn.Sequential(a)
    stem.append(c)
    stem.insert(1, b)
    assert list(stem) == [a, b, c]
    assert stem[:-1][0] is a
    assert stem.pop(-1) is c
    del stem[1]
    assert list(stem) == [a]


def test_module_list_has_no_forward():
    with raises_as_documented(PAGE, "NotImplementedError: Module [ModuleList]"):
        nn.ModuleList([nn.ReLU()])(torch.ones(1))


def test_sequential_of_a_list():
    with raises_as_documented(PAGE, "TypeError: list is not"):
        nn.Sequential([nn.ReLU()])


def test_sequential_of_a_function():
    with raises_as_documented(PAGE, "TypeError: torch.nn.functional.relu"):
        nn.Sequential(F.relu)


def test_sequential_of_a_class():
    with raises_as_documented(PAGE, "TypeError: torch.nn.modules.activation"):
        nn.Sequential(nn.ReLU)


def test_two_inputs():
    with raises_as_documented(PAGE, "TypeError: Sequential.forward() takes 2"):
        nn.Sequential(nn.ReLU())(torch.ones(1), torch.ones(1))


def test_lstm_returns_a_tuple():
    model = nn.Sequential(nn.LSTM(2, 2), nn.Linear(2, 2))
    with raises_as_documented(PAGE, "TypeError: linear(): argument 'input'"):
        model(torch.ones(1, 3, 2))


def test_a_list_replaces_a_module_list():
    model = snippet.Net(1)
    with raises_as_documented(PAGE, "TypeError: cannot assign 'list'"):
        model.blocks = [nn.Linear(16, 16)]


def test_a_dot_in_a_key():
    with raises_as_documented(PAGE, "KeyError: 'module name can"):
        nn.ModuleDict({"a.b": nn.ReLU()})


@pytest.mark.parametrize("key", ["type", "keys", "half"])
def test_a_key_that_is_a_method(key):
    if key == "type":
        with raises_as_documented(PAGE, "KeyError: \"attribute 'type'"):
            nn.ModuleDict({key: nn.ReLU()})
    else:
        with pytest.raises(KeyError, match=f"'{key}' already exists"):
            nn.ModuleDict({key: nn.ReLU()})
