"""debug-cuda-async: hooks that name each layer, and how the variable is passed."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, TORCH_CUDA, cuda_build, lacking, load_snippet, quoted

PAGE = "errors/debug-cuda-async"
snippet = load_snippet("errors/debug_cuda_async.py")


@pytest.fixture
def model():
    inner = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
    return nn.Sequential(nn.Embedding(10, 4), inner, nn.Linear(3, 2))


def test_layers_are_named_as_they_finish(model, capsys):
    hooks = snippet.wait_after_each_layer(model)
    model(torch.tensor([1, 2, 3]))
    assert capsys.readouterr().out.splitlines() == [
        "done: 0 Embedding",
        "done: 1.0 Linear",
        "done: 1.1 ReLU",
        "done: 2 Linear",
    ]
    for hook in hooks:
        hook.remove()
    model(torch.tensor([1]))
    assert not capsys.readouterr().out


def test_layers_with_several_outputs_are_named(capsys):
    lstm = nn.Sequential(nn.LSTM(4, 3))
    snippet.wait_after_each_layer(lstm)
    lstm(torch.zeros(2, 4))
    assert capsys.readouterr().out == "done: 0 LSTM\n"


def test_a_layer_that_fails_late_is_not_named(model, monkeypatch, capsys):
    """As on a GPU, where the layer returns, and waiting for it raises."""
    waited = []

    def synchronize():
        waited.append(None)
        if len(waited) == 3:
            raise torch.AcceleratorError("CUDA error: device-side assert triggered")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", synchronize)
    snippet.wait_after_each_layer(model)
    with pytest.raises(torch.AcceleratorError, match="device-side assert"):
        model(torch.tensor([1]))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["0", "1.0"]


def test_without_a_gpu_nothing_is_waited_for(model, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: 1 / 0)
    snippet.wait_after_each_layer(model)
    model(torch.tensor([1]))


def test_the_demonstration_stops_at_the_layer_that_fails():
    command = [sys.executable, ROOT / "snippets/errors/debug_cuda_async.py"]
    assert subprocess.check_output(command, text=True).splitlines() == [
        "done: 0 Flatten",
        "error: index out of range in self",
    ]


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_what_cuda_calls_its_errors():
    cudart = torch._C._cudart
    for number in (9, 700, 701, 716, 719):
        text = cudart.cudaGetErrorString(cudart.cudaError(number))
        assert quoted(PAGE, f"AcceleratorError: CUDA error: {text}")


@cuda_build
def test_the_names_of_cublas_and_the_words_between():
    names = ("CUBLAS_STATUS_INVALID_VALUE", "CUBLAS_STATUS_NOT_SUPPORTED")
    for name in names:
        assert quoted(PAGE, f"RuntimeError: CUDA error: {name} when calling `")
    assert not lacking(TORCH_CUDA, "CUDA error: ", " when calling `", *names)


LINALG = TORCH_CUDA.with_name("libtorch_cuda_linalg.so")


@pytest.mark.skipif(not LINALG.exists(), reason="a build without cuSOLVER")
def test_what_precedes_the_status_of_cusolver():
    quoted(PAGE, "RuntimeError: cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when")
    assert not lacking(LINALG, "cusolver error: ", ", when calling `")
