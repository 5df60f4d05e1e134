"""err-empty-optimizer: each cause raises; what is registered is trained and saved."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/err-empty-optimizer"
snippet = load_snippet("errors/err_empty_optimizer.py")


def adamw(params):
    return torch.optim.AdamW(params, lr=1e-3)


class PlainList(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(8, 8)]


def test_a_list_is_not_registered():
    assert repr(PlainList()) == "PlainList()"
    with raises_as_documented(PAGE, "ValueError: optimizer got an empty"):
        adamw(PlainList().parameters())


def test_what_the_optimizer_finds_moves_and_trains():
    net = snippet.Net(2).to("meta", torch.bfloat16)
    for parameter in net.parameters():
        assert (parameter.device.type, parameter.dtype) == ("meta", torch.bfloat16)
    net = snippet.Net(2)
    before = [parameter.clone() for parameter in net.parameters()]
    optimizer = adamw(net.parameters())
    net(torch.rand(4, 8)).sum().backward()
    optimizer.step()
    after = net.parameters()
    assert not any(map(torch.equal, before, after))


@pytest.mark.parametrize("depth", [1, 3])
def test_the_list_of_modules_is_registered_and_used(depth):
    net = snippet.Net(depth)
    names = [f"layers.{i}.{kind}" for i in range(depth) for kind in ("weight", "bias")]
    assert list(net.state_dict()) == names
    x = torch.randn(5, 8)
    expected = x.numpy()
    for layer in net.layers:
        weight, bias = (p.detach().numpy() for p in layer.parameters())
        expected = np.maximum(expected @ weight.T + bias, 0)
    np.testing.assert_allclose(net(x).detach().numpy(), expected, atol=1e-6)


def test_empty_lists():
    class Misspelt(nn.Module):
        def _init_(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

    class Tensors(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.ones(3, requires_grad=True)
            self.moved = nn.Parameter(torch.ones(3)).to("meta")
            self.right = nn.Parameter(torch.ones(3).to("meta"))

    frozen = nn.Linear(2, 2).requires_grad_(False)
    used = nn.Linear(2, 2).parameters()
    assert len(list(used)) == 2
    chosen = (p for p in frozen.parameters() if p.requires_grad)
    for params in (Misspelt().parameters(), nn.ReLU().parameters(), used, chosen):
        with raises_as_documented(PAGE, "ValueError: optimizer got an empty"):
            adamw(params)
    assert list(Tensors().state_dict()) == ["right"]
    assert repr(Misspelt()) == "Misspelt()"


def test_assignments_before_init():
    class Late(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(2, 2)
            super().__init__()

    class NoCall(nn.Module):
        def __init__(self):
            super().__init__  # noqa: B018, the mistake
            self.layer = nn.Linear(2, 2)

    @dataclass(eq=False)
    class Data(nn.Module):
        layer: nn.Module

    class Weight(nn.Module):
        def __init__(self):
            self.w = nn.Parameter(torch.ones(3))

    for make in (Late, NoCall, lambda: Data(nn.Linear(2, 2))):
        with raises_as_documented(PAGE, "AttributeError: cannot assign module"):
            make()
    with raises_as_documented(PAGE, "AttributeError: cannot assign parameters"):
        Weight()


def test_what_passes_in_silence():
    class Half(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen, self.unseen = nn.Linear(2, 2), [nn.Linear(2, 2)]

    half = Half().to("meta")
    assert len(list(half.parameters())) == 2
    assert half.seen.weight.device.type == "meta"
    assert half.unseen[0].weight.device.type == "cpu"
    assert list(half.state_dict()) == ["seen.weight", "seen.bias"]
    adamw([{"params": []}]).step()


def test_other_messages():
    class Net(nn.Module):
        def __init__(self):
            self.layers = [nn.Linear(2, 2)]

    with raises_as_documented(PAGE, "AttributeError: 'Net' object has no attribute"):
        adamw(Net().parameters())
    for call in (lambda: Net().to("cpu"), lambda: Net()(torch.ones(2))):
        with pytest.raises(AttributeError, match=r"'_modules'|'_backward_hooks'"):
            call()

    class Net(nn.Module):
        pass

    with raises_as_documented(PAGE, "NotImplementedError: Module [Net] is missing"):
        Net()(torch.ones(2))
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    with raises_as_documented(PAGE, "TypeError: optimizer can only optimize Tensors"):
        adamw([a.parameters(), b.parameters()])
    both = adamw([*a.parameters(), *b.parameters()])
    assert len(both.param_groups[0]["params"]) == 4
    with raises_as_documented(PAGE, "TypeError: 'method' object is not iterable"):
        adamw(a.parameters)
    x = torch.zeros(3, requires_grad=True)
    with raises_as_documented(PAGE, "TypeError: params argument given"):
        adamw(x)
    adamw([x])
    with raises_as_documented(PAGE, "ValueError: can't optimize a non-leaf Tensor"):
        adamw([x.to("meta")])
    with raises_as_documented(PAGE, "ValueError: some parameters appear in more"):
        adamw([{"params": a.parameters()}, {"params": a.bias}])
