"""empty-cache: weak references tell what lives, on the CPU as on a GPU."""

import gc
import weakref

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet

snippet = load_snippet("setup/empty_cache.py")
release_memory = snippet.release_memory


@pytest.fixture(autouse=True)
def no_automatic_collection():
    gc.disable()
    yield
    gc.enable()


def held_by_a_cycle() -> weakref.ref:
    cycle = {"tensor": torch.ones(3)}
    cycle["self"] = cycle
    return weakref.ref(cycle["tensor"])


def test_a_cycle_is_freed_only_by_the_collection():
    tensor = held_by_a_cycle()
    torch.cuda.empty_cache()
    assert tensor() is not None
    release_memory()
    assert tensor() is None


def test_the_cache_is_emptied_after_the_collection(monkeypatch):
    tensor, seen = held_by_a_cycle(), []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: seen.append(tensor()))
    release_memory()
    assert seen == [None]


def test_it_does_not_start_cuda():
    before = torch.cuda.is_initialized()
    release_memory()
    assert torch.cuda.is_initialized() == before


def test_what_is_referred_to_stays():
    tensor = torch.ones(3)
    other_name = tensor
    alive = weakref.ref(tensor)
    del tensor
    release_memory()
    assert alive() is other_name


def test_the_loss_holds_what_backward_needs():
    weight, x = torch.ones(3, requires_grad=True), torch.ones(3)
    alive = weakref.ref(x)
    history = [(weight * x).sum()]  # x is saved for backward
    del x
    release_memory()
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
    release_memory()
    assert alive[0]() is not None
    kept.__traceback__ = None
    release_memory()
    assert alive[0]() is None


def test_gradients_go_with_set_to_none():
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    gradient = weakref.ref(model.weight.grad)
    optimizer.zero_grad(set_to_none=False)
    assert gradient() is not None
    optimizer.zero_grad()
    assert gradient() is None
