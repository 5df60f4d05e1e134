"""cuda-graphs: the results by NumPy; messages, which take a GPU to raise."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import lacking, load_snippet, quoted, raises_as_documented

PAGE = "performance/cuda-graphs"


def test_the_compiled_model_computes_what_numpy_computes(monkeypatch):
    modes = []

    def compile_(model, mode):
        """Returns the same memory each time, as a graph does."""
        modes.append(mode)
        out = torch.empty(8, 16)
        return lambda x: out.copy_(model(x))

    monkeypatch.setattr(torch, "compile", compile_)
    found = load_snippet("performance/cuda_graphs.py")
    assert modes == ["reduce-overhead"]
    assert found.device.type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert not found.model.training
    values = [p.detach().cpu().numpy() for p in found.model.parameters()]
    assert len(values) == 16
    assert len(found.outputs) == 5
    for x, y in zip(found.batches.cpu().numpy(), found.outputs, strict=True):
        assert x.shape == (8, 16)
        for weight, bias in zip(values[::2], values[1::2], strict=True):
            x = x @ weight.T + bias
        np.testing.assert_allclose(y.cpu().numpy(), x, rtol=1e-4, atol=1e-5)
        assert not y.requires_grad


def test_a_module_with_hooks_is_refused():
    model = nn.Linear(2, 2)
    model.register_forward_hook(print)
    with raises_as_documented(PAGE, "AssertionError: Modules must not"):
        torch.cuda.make_graphed_callables(model, (torch.ones(1, 2),))


def test_autocast_needs_its_cache_off():
    before = torch.is_autocast_enabled("cuda")
    torch.set_autocast_enabled("cuda", True)
    try:
        with raises_as_documented(PAGE, "RuntimeError: make_graphed_callables"):
            torch.cuda.make_graphed_callables(nn.Linear(2, 2), (torch.ones(1, 2),))
    finally:
        torch.set_autocast_enabled("cuda", before)


@pytest.mark.parametrize(("number", "start"), [(900, "not permitted"), (901, "failed")])
def test_the_names_that_cuda_gives_its_errors(number, start):
    if torch.version.cuda is None:
        pytest.skip("not a CUDA build")
    cudart = torch._C._cudart
    text = cudart.cudaGetErrorString(cudart.cudaError(number))
    message = quoted(PAGE, f"AcceleratorError: CUDA error: operation {start}")
    assert message == f"AcceleratorError: CUDA error: {text}"


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_the_binary_holds_the_messages():
    """Raising it takes a GPU."""
    library = Path(torch.__file__).parent / "lib/libtorch_cuda.so"
    _, _, text = quoted(PAGE, "RuntimeError: Cannot copy").partition(": ")
    _, _, cublas = quoted(PAGE, "UserWarning: Attempting").partition(": ")
    assert lacking(library, text, cublas) == []


def test_what_inductor_says_of_an_overwritten_output():
    from torch._inductor.cudagraph_trees import CUDAGraphTreeManager

    _, _, text = quoted(PAGE, "RuntimeError: Error: accessing").partition(": ")
    assert CUDAGraphTreeManager.format_dealloc_msg("here").startswith(text)
