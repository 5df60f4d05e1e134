"""move-to-device: the meta device takes the part of a GPU."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "setup/move-to-device"
device_of = load_snippet("setup/move_to_device.py").device_of
CPU, META = torch.device("cpu"), torch.device("meta")


@pytest.mark.parametrize("device", [CPU, META])
def test_a_model_on_one_device(device):
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).to(device)
    assert device_of(model) == device


def test_a_buffer_alone_counts():
    assert device_of(nn.BatchNorm1d(2, affine=False).to("meta")) == META


def test_a_parameter_alone_counts():
    assert device_of(nn.Linear(2, 2, device="meta")) == META


def test_a_buffer_or_a_layer_left_behind_is_found():
    message = r"^Expected all tensors on one device, found \['cpu', 'meta'\]$"
    model = nn.BatchNorm1d(2).to("meta")
    model.running_mean = torch.zeros(2)
    with pytest.raises(ValueError, match=message):
        device_of(model)
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2, device="meta"))
    with pytest.raises(ValueError, match=message):
        device_of(model)


def test_a_model_without_tensors_has_no_device():
    with pytest.raises(ValueError, match=r"found \[\]$"):
        device_of(nn.ReLU())


def test_a_tensor_is_copied_and_a_module_moves():
    x, module = torch.ones(2), nn.Linear(2, 2)
    assert x.to("meta").is_meta
    assert not x.is_meta
    assert module.to("meta") is module
    assert module.weight.is_meta
    # No copy where there is nothing to do: writing to one changes the other.
    assert x.to("cpu") is x
    assert x.to("cpu", copy=True) is not x
    assert x.to(torch.float32) is x


def test_lists_dicts_and_attributes_do_not_move():
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
    assert device_of(model) == META  # the pitfall: it can not see the others


def test_the_documented_errors_are_raised():
    leaf = torch.ones(2, requires_grad=True)
    moved = leaf.to("meta")
    assert not moved.is_leaf
    with raises_as_documented(PAGE):
        torch.optim.SGD([moved])
    assert torch.ones(2, device="meta", requires_grad=True).is_leaf

    model = nn.Linear(2, 2).to("meta")
    with raises_as_documented(PAGE):
        model.to("cpu")
    with raises_as_documented(PAGE):
        model(torch.ones(1, 2))
    assert not model.to_empty(device="cpu").weight.is_meta


def test_an_optimizer_made_before_the_move_may_keep_the_old_parameters():
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters())
    model.to("meta")
    assert optimizer.param_groups[0]["params"][0] is not model.weight


def test_to_with_a_dtype_changes_only_floating_point():
    module = nn.BatchNorm1d(2).to(torch.float64)
    assert module.weight.dtype == torch.float64
    assert module.num_batches_tracked.dtype == torch.int64
    a, b = torch.ones(2, dtype=torch.float64), torch.ones(2)
    assert b.to(a).dtype == torch.float64


def test_state_of_an_optimizer_follows_the_parameters_when_loaded():
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    state = optimizer.state_dict()
    other = nn.Linear(2, 2, device="meta")
    optimizer = torch.optim.SGD(other.parameters(), momentum=0.9)
    optimizer.load_state_dict(state)
    assert optimizer.state[other.weight]["momentum_buffer"].is_meta
