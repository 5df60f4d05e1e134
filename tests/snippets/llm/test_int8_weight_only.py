"""int8-weight-only: against NumPy, number by number, and torchao's size of error."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "llm/int8-weight-only"
snippet = load_snippet("llm/int8_weight_only.py")
Int8Linear, Int4Linear = snippet.Int8Linear, snippet.Int4Linear


def linear(inputs=64, outputs=5, bias=True):
    torch.manual_seed(0)
    return nn.Linear(inputs, outputs, bias=bias)


def error(layer, x, y):
    return ((layer(x) - y).norm() / y.norm()).item()


@pytest.mark.parametrize("bias", [True, False])
def test_int8_is_what_numpy_computes(bias):
    layer, x = linear(bias=bias), torch.randn(2, 3, 64)
    w = layer.weight.detach().numpy().astype(np.float64)
    scale = np.abs(w).max(1, keepdims=True) / 127
    q = np.rint(w / scale)
    quantized = Int8Linear(layer)
    assert quantized.q.dtype == torch.int8
    assert quantized.q.shape == (5, 64)
    np.testing.assert_array_equal(quantized.q.numpy(), q)
    assert quantized.q.abs().amax(1).tolist() == [127] * 5
    y = x.numpy() @ (q * scale).T + (layer.bias.detach().numpy() if bias else 0)
    np.testing.assert_allclose(quantized(x).detach().numpy(), y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("group", [2, 16, 32, 64])
def test_int4_is_what_numpy_computes(group):
    layer, x = linear(), torch.randn(3, 64)
    w = layer.weight.detach().numpy().astype(np.float64).reshape(5, -1, group)
    scale = np.abs(w).max(2, keepdims=True) / 7
    rounded = (np.rint(w / scale) * scale).reshape(5, 64)
    quantized = Int4Linear(layer, group=group)
    assert quantized.q.dtype == torch.uint8
    assert quantized.q.shape == (5, 32)
    assert quantized.scale.shape == (5, 64 // group, 1)
    y = x.numpy() @ rounded.T + layer.bias.detach().numpy()
    np.testing.assert_allclose(quantized(x).detach().numpy(), y, rtol=1e-4, atol=1e-5)
    by_default = Int4Linear(layer).scale.shape == quantized.scale.shape
    assert by_default == (group == 32)


def test_a_byte_by_hand():
    layer = nn.Linear(2, 1, bias=False)
    nn.init.zeros_(layer.weight)
    layer.weight.data[0] = torch.tensor([-0.7, 0.3])
    quantized = Int4Linear(layer, group=2)
    assert quantized.scale.item() == pytest.approx(0.1)
    assert quantized.q.tolist() == [[(-7 + 8) * 16 + (3 + 8)]]


@pytest.mark.parametrize(("kind", "levels"), [(Int8Linear, 127), (Int4Linear, 7)])
def test_no_weight_is_off_by_more_than_half_a_scale(kind, levels):
    layer = linear(outputs=64)
    rounded = kind(layer)(torch.eye(64)) - layer.bias
    worst = (rounded.T - layer.weight).abs().max()
    assert worst <= layer.weight.abs().max() / levels / 2 * 1.001


@pytest.mark.parametrize("kind", [Int8Linear, Int4Linear])
def test_rows_of_zeros_and_other_dtypes(kind):
    layer = linear()
    with torch.no_grad():
        layer.weight[1:3] = 0
    x = torch.randn(4, 64)
    quantized = kind(layer)
    assert (quantized(x)[:, 1:3] == layer.bias[1:3]).all()
    assert error(quantized, x, layer(x)) < 0.2
    half = kind(copy.deepcopy(layer).bfloat16())
    assert half.q.dtype == quantized.q.dtype
    assert half(x.bfloat16()).dtype == torch.bfloat16
    assert error(half, x.bfloat16(), layer(x)) < 0.2
    moved = copy.deepcopy(quantized).bfloat16()
    assert moved.q.dtype == quantized.q.dtype


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_the_largest_weight_keeps_its_sign_in_half_precision(dtype):
    layer = nn.Linear(2, 128, bias=False, dtype=dtype)
    with torch.no_grad():  # every bfloat16 between 2**-12 and 2**-11
        layer.weight[:] = ((1 + torch.arange(128) / 128) * 2**-12)[:, None]
    scale = layer.weight.detach().double().numpy() / 127
    quantized = Int8Linear(layer)
    assert (quantized.q == 127).all()
    np.testing.assert_allclose(quantized.scale.numpy(), scale[:, :1], rtol=1e-6)
    assert (Int4Linear(layer, group=2).q == (7 + 8) * 16 + (7 + 8)).all()


def test_bits_for_each_weight():
    for dtype in (torch.float32, torch.bfloat16):
        quantized = Int4Linear(linear(outputs=4, bias=False).to(dtype))
        size = sum(t.nbytes for t in quantized.state_dict().values())
        assert 8 * size / (4 * 64) == 5


def test_a_smaller_group_confines_an_outlier():
    layer, x = linear(128, 32), torch.randn(16, 128)
    with torch.no_grad():
        layer.weight[:, 0] = 3  # 30 times the others
    x[:, 0] = 0
    y = layer(x)
    errors = [error(Int4Linear(layer, group=group), x, y) for group in (128, 32, 8)]
    assert errors[0] > 1.5 * errors[1] > 1.5 * errors[2]
    whole = Int4Linear(layer, group=128)(torch.eye(128))[1:] - layer.bias
    assert (whole == 0).all()  # the small ones became 0
    assert error(Int8Linear(layer), x, y) < errors[0]


def test_the_error_is_about_that_of_torchao():
    torchao = pytest.importorskip("torchao.quantization")
    layer, x = linear(256, 256), torch.randn(16, 256)
    y = layer(x)
    mine = error(Int8Linear(layer), x, y)
    model = nn.Sequential(copy.deepcopy(layer))
    torchao.quantize_(model, torchao.Int8WeightOnlyConfig())
    assert mine == pytest.approx(error(model, x, y), rel=0.1)


def test_a_model_is_replaced_saved_and_loaded(tmp_path):
    def build():
        model = nn.Sequential(
            nn.Linear(8, 16), nn.Sequential(nn.ReLU(), nn.Linear(16, 2))
        )
        for name, layer in dict(model.named_modules()).items():
            if isinstance(layer, nn.Linear):
                model.set_submodule(name, Int8Linear(layer))
        return model

    model, x = build(), torch.randn(3, 8)
    assert not any(isinstance(layer, nn.Linear) for layer in model.modules())
    assert {"1.1.q", "1.1.scale", "1.1.bias"} < set(model.state_dict())
    torch.save(model.state_dict(), tmp_path / "int8.pth")
    other = build()
    assert not torch.equal(other(x), model(x))
    other.load_state_dict(torch.load(tmp_path / "int8.pth", weights_only=True))
    assert torch.equal(other(x), model(x))
    assert {name.split(".")[-1] for name, _ in model.named_parameters()} == {"bias"}


def test_a_group_that_does_not_divide():
    with raises_as_documented(PAGE, "RuntimeError: unflatten: Provided sizes"):
        Int4Linear(nn.Linear(50, 4))
    Int4Linear(nn.Linear(50, 4), group=10)


def test_layers_that_read_the_weight_need_the_property():
    class WithWeight(Int8Linear):
        weight = property(lambda self: self.q * self.scale)  # as on the page

    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0, batch_first=True)
    x = torch.randn(2, 5, 16)
    expected = layer(x)
    for kind in (Int8Linear, WithWeight):
        model = copy.deepcopy(layer)
        for name, part in list(model.named_modules()):
            if isinstance(part, nn.Linear):
                model.set_submodule(name, kind(part))
        if kind is WithWeight:
            torch.testing.assert_close(model(x), expected, atol=0.05, rtol=0)
            model.eval()
            torch.testing.assert_close(model(x), expected, atol=0.05, rtol=0)
        else:
            with raises_as_documented(PAGE, "AttributeError: 'Int8Linear' object"):
                model(x)
