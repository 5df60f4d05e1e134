"""cpu-inference-tuning: against float64, with and without bfloat16 in the CPU."""

import pytest
import torch
from torch import nn
from torch.profiler import profile

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "performance/cpu-inference-tuning"


@pytest.fixture(autouse=True)
def threads():
    before = torch.get_num_threads()
    yield before
    torch.set_num_threads(before)


def run(monkeypatch, **capabilities):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    return load_snippet("performance/cpu_inference_tuning.py")


@pytest.mark.parametrize("name", ["avx512_bf16", "amx_bf16", "bf16"])
def test_bfloat16_where_the_cpu_has_it(name, threads, monkeypatch):
    seen = []
    forward = nn.Linear.forward

    def noted(layer, x):
        seen.append((x.dtype, torch.is_inference_mode_enabled(), layer.training))
        return forward(layer, x)

    monkeypatch.setattr(nn.Linear, "forward", noted)
    snippet = run(monkeypatch, **{name: True})
    assert seen[2:] == [(torch.bfloat16, True, False)] * 2  # the first: float32
    assert torch.get_num_threads() == threads
    assert snippet.y.dtype == torch.float32
    assert not snippet.y.requires_grad
    assert snippet.y.shape == (4, 8)
    assert snippet.x.shape == (4, 1024)
    expected = snippet.expected
    error = (snippet.y - expected).abs().max() / expected.abs().max()
    assert 1e-4 < error < 0.02  # bfloat16 was used, and its eps is 0.008


def test_float32_elsewhere(monkeypatch):
    snippet = run(monkeypatch, avx2=True, avx512_f=True, avx512_bf16=False)
    torch.testing.assert_close(snippet.y, snippet.model(snippet.x))
    expected = snippet.model.double()(snippet.x.double())
    torch.testing.assert_close(snippet.y.double(), expected, rtol=1e-4, atol=1e-5)


def test_this_cpu_is_asked_by_a_public_function():
    assert "architecture" in torch.cpu.get_capabilities()


def test_the_input_must_be_converted_too():
    model = nn.Linear(4, 2).bfloat16()
    with raises_as_documented(PAGE, "RuntimeError: mat1 and mat2"):
        model(torch.ones(1, 4))
    with pytest.raises(TypeError, match="BFloat16"):
        torch.ones(1).bfloat16().numpy()


@pytest.mark.parametrize("fast", [False, True])
def test_the_answer_for_token_ids(fast, monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": fast})
    names = {"model": nn.Embedding(9, 4), "x": torch.tensor([[3, 0]])}
    exec(recipes()["cpu-inference-tuning"].answer.text, names)
    assert names["model"].weight.dtype == (torch.bfloat16 if fast else torch.float32)
    expected = names["model"].weight[torch.tensor([[3, 0]])].float()
    assert torch.equal(names["y"], expected)


def test_token_ids_stay_integers():
    model, ids = nn.Embedding(9, 4).bfloat16(), torch.tensor([[3, 0]])
    assert model(ids).dtype == torch.bfloat16
    for dtype in (torch.bfloat16, torch.float32):
        with pytest.raises(RuntimeError, match="scalar types: Long, Int"):
            model(ids.to(dtype))


@pytest.mark.parametrize(
    ("mode", "times"), [(torch.inference_mode, 3), (torch.no_grad, 1)]
)
def test_autocast_converts_the_weights_in_each_call(mode, times):
    model = nn.Linear(5, 7)
    bf16 = torch.autocast("cpu", torch.bfloat16)
    with mode(), profile(record_shapes=True) as seen, bf16:
        for _ in range(3):
            model(torch.ones(2, 5))
    converted = [
        event.count
        for event in seen.key_averages(group_by_input_shape=True)
        if event.key == "aten::_to_copy" and event.input_shapes[0] == [7, 5]
    ]
    assert converted == [times]
