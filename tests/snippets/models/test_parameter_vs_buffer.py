"""parameter-vs-buffer: every cell of the table, and each pitfall."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/parameter-vs-buffer"
snippet = load_snippet("models/parameter_vs_buffer.py")


@pytest.fixture
def layer():
    return snippet.Normalize([0.5, 0.4])


def test_what_is_trained_and_what_is_saved(layer):
    assert [k for k, _ in layer.named_parameters()] == ["scale"]
    assert list(layer.state_dict()) == ["scale", "mean"]


def test_what_moves(layer):
    layer.plain = torch.ones(2)
    layer.to("meta")
    devices = {k: getattr(layer, k).device.type for k in ("scale", "mean", "mask")}
    assert set(devices.values()) == {"meta"}
    assert layer.plain.device.type == "cpu"


def test_forward_by_hand(layer):
    layer.scale.data = torch.tensor([2.0, 3.0])
    layer.mask = torch.tensor([1.0, 10.0])
    wanted = torch.tensor([[1.0, 18.0]])
    torch.testing.assert_close(layer(torch.tensor([[1.0, 1.0]])), wanted)


def test_a_new_layer_only_takes_the_mean_off(layer):
    torch.testing.assert_close(layer(torch.ones(1, 2)), torch.tensor([[0.5, 0.6]]))


@pytest.mark.parametrize("mean", [np.full(2, 0.5), [1, 2]], ids=["numpy", "integers"])
def test_a_mean_of_another_dtype_leaves_the_output_float32(mean):
    layer = snippet.Normalize(mean)
    assert layer(torch.ones(1, 2)).dtype == torch.float32
    assert layer.half().mean.dtype == torch.float16


def test_an_assignment_keeps_the_buffer(layer):
    layer.mean = 0.9 * layer.mean + 0.1 * torch.ones(3, 2).detach().mean(0)
    assert "mean" in dict(layer.named_buffers())
    assert not layer.mean.requires_grad


def test_to_after_parameter(layer):
    layer.w = nn.Parameter(torch.ones(2)).to(torch.float64)
    assert not isinstance(layer.w, nn.Parameter)
    layer.v = nn.Parameter(torch.ones(2).to(torch.float64))
    assert [k for k, _ in layer.named_parameters()] == ["scale", "v"]


def test_whole_numbers_stay(layer):
    layer.register_buffer("index", torch.arange(2))
    layer.half()
    assert (layer.index.dtype, layer.mean.dtype) == (torch.int64, torch.float16)


def test_buffer_by_assignment(layer):
    layer.other = nn.Buffer(torch.ones(1), persistent=False)
    assert "other" in dict(layer.named_buffers())
    assert "other" not in layer.state_dict()


def test_the_graph_of_the_last_step(layer):
    for step in range(2):
        layer.mean = 0.9 * layer.mean + 0.1 * layer.scale * layer.scale
        loss = layer.mean.square().sum()
        if step == 0:
            loss.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second"):
        loss.backward()


def test_assigning_a_tensor_to_a_parameter(layer):
    with raises_as_documented(PAGE, "TypeError: cannot assign 'torch.FloatTensor'"):
        layer.scale = torch.zeros(2)


def test_an_old_checkpoint(layer):
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading"):
        layer.load_state_dict({"scale": torch.ones(2)})


def test_a_name_twice(layer):
    layer = nn.Module()
    layer.mean = torch.ones(2)
    with raises_as_documented(PAGE, "KeyError: \"attribute 'mean'"):
        layer.register_buffer("mean", torch.ones(2))


def test_a_parameter_of_integers():
    with raises_as_documented(PAGE, "RuntimeError: Only Tensors of floating"):
        nn.Parameter(torch.arange(3))


def test_a_number_for_a_buffer(layer):
    with raises_as_documented(PAGE, "TypeError: cannot assign 'float'"):
        layer.mean = 3.0


def test_a_list_for_a_buffer():
    with raises_as_documented(PAGE, "TypeError: cannot assign 'list'"):
        nn.Module().register_buffer("mean", [0.5])


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_bfloat16_and_another_device(device):
    model = snippet.Normalize([0.5, 0.4]).to(device, torch.bfloat16)
    y = model(torch.ones(3, 2, device=device, dtype=torch.bfloat16))
    assert (y.dtype, y.device.type) == (torch.bfloat16, device)
