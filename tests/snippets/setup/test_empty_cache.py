"""empty-cache: weak references tell what lives, on the CPU as on a GPU."""

import gc
import weakref
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, quoted, run_on

SNIPPET, PAGE = "setup/empty_cache.py", "setup/empty-cache"


@pytest.fixture(autouse=True)
def no_automatic_collection():
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def calls(monkeypatch):
    """What the snippet calls, in order, and whether the weight lives by then."""
    noted, weights, collect = [], [], gc.collect
    linear = nn.Linear

    def made(*args, **kwargs):
        model = linear(*args, **kwargs)
        model.itself = [model]  # as hooks often do: freed by the collection alone
        weights.append(weakref.ref(model.weight))
        return model

    def lives():
        return weights[-1]() is not None

    def note(name, call):
        noted.append((name, lives()))
        return call()

    monkeypatch.setattr(nn, "Linear", made)
    monkeypatch.setattr(gc, "collect", lambda: note("collect", collect))
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: note("empty", int))
    return noted


def test_the_cache_is_emptied_after_the_collection(calls, monkeypatch, capsys):
    def in_use():
        calls.append("in use")
        return 3 * 2**29

    monkeypatch.setattr(torch.cuda, "memory_allocated", in_use)
    load_snippet(SNIPPET)
    assert calls == [("collect", True), ("empty", False), "in use"]
    assert capsys.readouterr().out == "1.5 GiB still in use\n"


def test_the_model_is_made_on_the_gpu_where_there_is_one(monkeypatch):
    made = []
    register = nn.Module.register_parameter

    def note(self, name, parameter):
        made.append(parameter.device.type)
        register(self, name, parameter)

    monkeypatch.setattr(nn.Module, "register_parameter", note)
    run_on("meta", SNIPPET, monkeypatch)
    assert set(made) == {"meta"}


def test_the_optimizer_is_given_the_parameters(monkeypatch):
    """Only then is there something that keeps the weight alive."""
    shapes, adamw = [], torch.optim.AdamW

    def note(parameters):
        given = list(parameters)
        shapes.extend(tuple(parameter.shape) for parameter in given)
        return adamw(given)

    monkeypatch.setattr(torch.optim, "AdamW", note)
    load_snippet(SNIPPET)
    assert shapes == [(1000, 1000), (1000,)]


def test_it_does_not_start_cuda():
    before = torch.cuda.is_initialized()
    torch.cuda.empty_cache()
    assert torch.cuda.is_initialized() == before


def test_the_optimizer_holds_the_parameters():
    model = nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(model.parameters())
    weight = weakref.ref(model.weight)
    del model
    gc.collect()
    assert weight() is not None
    del optimizer
    gc.collect()
    assert weight() is None


def test_a_second_name_holds_the_tensor():
    tensor = torch.ones(3)
    other_name = tensor
    alive = weakref.ref(tensor)
    del tensor
    gc.collect()
    assert alive() is other_name


def test_the_loss_holds_what_backward_needs():
    weight, x = torch.ones(3, requires_grad=True), torch.ones(3)
    alive = weakref.ref(x)
    history = [(weight * x).sum()]  # x is saved for backward
    del x
    gc.collect()
    assert alive() is not None
    history[0] = history[0].item()
    assert alive() is None


def test_a_kept_exception_holds_the_tensors_of_its_frames():
    alive = []

    def fails():
        tensor = torch.ones(3)
        alive.append(weakref.ref(tensor))
        raise RuntimeError("out of memory, say")

    kept = None
    try:
        fails()
    except RuntimeError as error:
        kept = error
    gc.collect()
    assert alive[0]() is not None
    kept = str(kept)
    gc.collect()
    assert alive[0]() is None
    assert kept == "out of memory, say"


def test_gradients_are_freed_by_zero_grad():
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    gradient = weakref.ref(model.weight.grad)
    optimizer.zero_grad()
    assert gradient() is None


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_the_binary_holds_the_message():
    """Raising it takes a GPU."""
    message = quoted(PAGE, "OutOfMemoryError: CUDA out of memory.")
    assert issubclass(torch.OutOfMemoryError, RuntimeError)
    assert "CUDA out of memory. Tried to allocate " in message
    library = Path(torch.__file__).parent / "lib/libc10_cuda.so"
    binary = library.read_bytes()
    for text in (
        "CUDA out of memory. Tried to allocate ",
        " has a total capacity of ",
        " is reserved by PyTorch but unallocated.",
        "expandable_segments:True",
    ):
        assert text.encode() in binary
