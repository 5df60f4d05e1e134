"""int8-quantization: the weights and outputs against NumPy, and what is refused."""

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torchao.quantization import (
    Int4WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8WeightOnlyConfig,
    quantize_,
)

from tests.helpers import load_snippet, raises_as_documented

PAGE = "deployment/int8-quantization"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def rounded(values):
    """Each row as int8 values and the scale that they are multiplied by."""
    scale = np.abs(values).max(1, keepdims=True) / 127.5
    return np.clip(np.rint(values / scale), -128, 127), scale


def test_the_snippet(capsys):
    snippet = load_snippet("deployment/int8_quantization.py")
    assert capsys.readouterr().out == "3.9 times smaller, error 0.6%\n"
    sizes = [Path(name).stat().st_size for name in ("float.pth", "int8.pth")]
    assert snippet.ratio == sizes[0] / sizes[1]
    assert snippet.x.shape == (64, 512)
    assert not snippet.int8.training
    loaded = snippet.new_model  # by now with the weights of the file
    with torch.inference_mode():
        found = snippet.int8(snippet.x)
        assert torch.equal(loaded(snippet.x), found)
    y = snippet.x.numpy()
    weights = torch.load("float.pth", weights_only=True)
    w1, b1, w2, b2 = (weight.numpy() for weight in weights.values())
    y = np.maximum(y @ w1.T + b1, 0) @ w2.T + b2
    error = np.linalg.norm(found.numpy() - y) / np.linalg.norm(y)
    assert snippet.error == pytest.approx(error, rel=1e-3)


@pytest.fixture
def torchao_not_imported():
    """torchao's classes are not yet known to torch.load, as in a new process."""
    known = torch.serialization.get_safe_globals()
    torch.serialization.clear_safe_globals()
    yield
    torch.serialization.add_safe_globals(known)


def saved(layer):
    quantize_(layer, Int8WeightOnlyConfig())
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    return file


@pytest.mark.usefixtures("torchao_not_imported")
def test_a_program_that_has_not_imported_torchao():
    file = saved(nn.Linear(8, 8))
    with raises_as_documented(PAGE, "UnpicklingError: Weights only load") as caught:
        torch.load(file, weights_only=True)
    told = "Unsupported global: GLOBAL torchao.quantization.Int8Tensor"
    assert told in str(caught.value)


def test_the_import_is_enough():
    weights = torch.load(saved(nn.Linear(8, 8)), weights_only=True)
    assert weights["weight"].qdata.dtype == torch.int8


@pytest.mark.parametrize("activations", [False, True])
def test_rows_are_scaled_by_their_largest_value(activations):
    torch.manual_seed(0)
    layer, x = nn.Linear(64, 32, bias=False), torch.randn(5, 64)
    weight = layer.weight.detach().numpy().copy()
    config = Int8WeightOnlyConfig()
    if activations:
        config = Int8DynamicActivationInt8WeightConfig()
    quantize_(layer, config)
    assert layer.weight.qdata.dtype == torch.int8
    q, scale = rounded(weight)
    inputs = x.numpy()
    if activations:
        whole, factor = rounded(inputs)
        inputs = whole * factor
    expected = inputs @ (q * scale).T
    with torch.inference_mode():
        found = layer(x).numpy()
    spread = np.abs(inputs).max() * scale.max()  # of one weight, rounded elsewhere
    np.testing.assert_allclose(found, expected, atol=2 * spread)


def test_a_tied_head_becomes_a_copy_and_bfloat16_is_halved():
    model = nn.Sequential(nn.Embedding(64, 256), nn.Linear(256, 64, bias=False))
    model[1].weight = model[0].weight
    quantize_(model.bfloat16(), Int8WeightOnlyConfig())
    assert model[0].weight.dtype == torch.bfloat16
    assert model[1].weight.qdata.dtype == torch.int8
    assert type(model[0].weight) is nn.Parameter

    layer = nn.Linear(1024, 1024).bfloat16()
    before = io.BytesIO()
    torch.save(layer.state_dict(), before)
    assert before.getbuffer().nbytes / saved(layer).getbuffer().nbytes == (
        pytest.approx(2, rel=0.01)
    )


def test_only_linear_layers_and_those_that_are_chosen():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(32, 8))
    quantize_(model, Int8WeightOnlyConfig())
    assert type(model[0].weight) is nn.Parameter
    assert "Int8Tensor" in str(model[2])
    layer = nn.MultiheadAttention(8, 2)
    quantize_(layer, Int8WeightOnlyConfig())
    assert {type(p) for p in layer.parameters()} == {nn.Parameter}

    names = {"body": nn.Linear(8, 8), "norm": nn.LayerNorm(8), "head": nn.Linear(8, 2)}
    model = nn.ModuleDict(names)
    quantize_(
        model,
        Int8WeightOnlyConfig(),
        filter_fn=lambda layer, name: isinstance(layer, nn.Linear) and name != "head",
    )
    assert "Int8Tensor" in str(model["body"])
    assert type(model["norm"].weight) is type(model["head"].weight) is nn.Parameter
    with raises_as_documented(PAGE, "AssertionError: applying int8 weight only quant"):
        quantize_(
            nn.Sequential(nn.Linear(8, 8), nn.ReLU()),
            Int8WeightOnlyConfig(),
            filter_fn=lambda layer, name: name != "head",
        )


def test_inputs_in_int8_make_the_error_larger():
    torch.manual_seed(0)
    x, errors = torch.randn(64, 512), []
    for config in (Int8WeightOnlyConfig(), Int8DynamicActivationInt8WeightConfig()):
        layer = nn.Linear(512, 64)
        with torch.inference_mode():
            y = layer(x)
        quantize_(layer, config)
        with torch.inference_mode():
            errors.append(((layer(x) - y).norm() / y.norm()).item())
    assert 0 < 1.5 * errors[0] < errors[1] < 0.05


def test_loading_without_assign():
    model = nn.Sequential(nn.Linear(8, 8))
    quantize_(model, Int8WeightOnlyConfig())
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading") as caught:
        nn.Sequential(nn.Linear(8, 8)).load_state_dict(model.state_dict())
    assert "'Parameter' object has no attribute 'tensor_data_names'" in str(
        caught.value
    )


def test_the_whole_model_cannot_be_saved():
    model = nn.Sequential(nn.Linear(8, 8))
    quantize_(model, Int8WeightOnlyConfig())
    with raises_as_documented(PAGE, "AttributeError: 'functools.partial'"):
        torch.save(model, io.BytesIO())


def test_what_older_code_meets():
    with raises_as_documented(PAGE, "ImportError: cannot import name"):
        from torchao.quantization import int8_weight_only  # noqa: F401
    model = nn.Sequential(nn.Linear(8, 8))
    with raises_as_documented(PAGE, "AssertionError: Passing a generic Callable"):
        quantize_(model, Int8WeightOnlyConfig)
    with raises_as_documented(PAGE, "DeprecationWarning: torch.ao.quantization is"):
        torch.ao.quantization.quantize_dynamic(model, {nn.Linear})


def test_int4_needs_a_package():
    with raises_as_documented(PAGE, "ImportError: Requires mslk"):
        quantize_(nn.Sequential(nn.Linear(256, 256)), Int4WeightOnlyConfig())
