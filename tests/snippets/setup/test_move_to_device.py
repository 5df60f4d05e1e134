"""move-to-device: the meta device takes the part of a GPU."""

import sys

import pytest
import torch
from torch import nn

from tests.helpers import (
    TORCH_CPU,
    lacking,
    quoted,
    raises_as_documented,
    run_on,
)

SNIPPET, PAGE = "setup/move_to_device.py", "setup/move-to-device"


@pytest.fixture
def snippet(monkeypatch, capsys):
    """Run the snippet where there is a GPU, or none."""

    def run(device: str | None):
        names = run_on(device, SNIPPET, monkeypatch)
        return names, capsys.readouterr().out

    return run


@pytest.mark.parametrize(("there", "device"), [("meta", "meta"), (None, "cpu")])
def test_model_and_data_end_on_the_device(snippet, there, device):
    module, printed = snippet(there)
    assert printed == f"model on {device}\n"
    moved = [*module.model.parameters(), module.x, module.noise]
    moved += module.batch.values()
    assert {tensor.device.type for tensor in moved} == {device}
    assert {k: v.shape for k, v in module.batch.items()} == {"x": (8, 4), "y": (8, 2)}
    assert module.x.shape == module.noise.shape == (8, 4)


def test_nothing_is_made_on_the_cpu_and_moved_afterwards(snippet, monkeypatch):
    made, randn = [], torch.randn

    def note(*size, **kwargs):
        made.append(kwargs.get("device"))
        return randn(*size, **kwargs)

    monkeypatch.setattr(torch, "randn", note)
    snippet("meta")
    assert made == [torch.device("meta")]


def test_a_tensor_is_copied_and_a_module_moves():
    x, module = torch.ones(2), nn.Linear(2, 2)
    assert x.to("meta").is_meta
    assert not x.is_meta
    assert module.to("meta") is module
    assert module.weight.is_meta
    # No copy where there is nothing to do: writing to one changes the other.
    assert x.to("cpu") is x
    assert x.to("cpu", copy=True) is not x
    assert x.cpu() is x


def test_lists_and_attributes_do_not_move():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(2, 2)]
            self.listed = nn.ModuleList([nn.Linear(2, 2)])
            self.mask = torch.ones(2)
            self.register_buffer("offset", torch.ones(2))
            self.register_buffer("cache", torch.ones(2), persistent=False)

    model = Model().to("meta")
    assert not model.layers[0].weight.is_meta
    assert not model.mask.is_meta
    assert model.listed[0].weight.is_meta
    assert model.offset.is_meta
    assert model.cache.is_meta
    assert "cache" not in model.state_dict()


def test_the_documented_errors_are_raised():
    with raises_as_documented(PAGE, "AttributeError: 'dict' object has"):
        {"x": torch.ones(2)}.to("cpu")
    with raises_as_documented(PAGE, "AttributeError: 'Linear' object has"):
        nn.Linear(2, 2).device  # noqa: B018
    leaf = torch.ones(2, requires_grad=True)
    moved = leaf.to("meta")
    assert not moved.is_leaf
    with raises_as_documented(PAGE, "ValueError: can't optimize a"):
        torch.optim.SGD([moved])
    assert torch.ones(2, device="meta", requires_grad=True).is_leaf

    model = nn.Linear(2, 2).to("meta")
    with raises_as_documented(PAGE, "NotImplementedError: Cannot copy out"):
        model.to("cpu")
    with raises_as_documented(PAGE, "RuntimeError: Tensor on device"):
        model(torch.ones(1, 2))
    assert not model.to_empty(device="cpu").weight.is_meta


@pytest.mark.skipif(sys.platform != "linux", reason="reads a Linux library")
def test_the_binary_holds_the_message_of_a_convolution():
    """Raising it takes a GPU."""
    message = quoted(PAGE, "RuntimeError: Input type")
    texts = ("Input type (", ") and weight type (", ") should be the same")
    assert not lacking(TORCH_CPU, *texts)
    assert all(text in message for text in texts)


def test_an_optimizer_made_before_the_move_may_keep_the_old_parameters():
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters())
    model.to("meta")
    assert optimizer.param_groups[0]["params"][0] is not model.weight


def test_a_model_of_several_devices():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2, device="meta"))
    assert {p.device.type for p in model.parameters()} == {"cpu", "meta"}
