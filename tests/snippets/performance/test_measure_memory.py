"""measure-memory: the counters, replaced by numbers of our own, and by none."""

import re

import pytest
import torch

from tests.helpers import ROOT, load_snippet

SNIPPET = "performance/measure_memory.py"


def test_each_number_is_read_from_its_counter_in_mib(monkeypatch):
    values = {
        "memory_allocated": 3,
        "max_memory_allocated": 7,
        "max_memory_reserved": 20,
    }
    for name, mib in values.items():
        monkeypatch.setattr(torch.cuda, name, lambda mib=mib: mib * 1024 * 1024)
    found = load_snippet(SNIPPET)
    assert (found.now, found.peak, found.reserved) == (3, 7, 20)


@pytest.mark.parametrize(("now", "peak", "reserved"), [(8, 7, 20), (3, 21, 20)])
def test_it_notices_numbers_that_cannot_be(monkeypatch, now, peak, reserved):
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda: now)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: peak)
    monkeypatch.setattr(torch.cuda, "max_memory_reserved", lambda: reserved)
    with pytest.raises(AssertionError):
        load_snippet(SNIPPET)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_the_counters_are_zero():
    found = load_snippet(SNIPPET)
    assert (found.now, found.peak, found.reserved) == (0, 0, 0)
    assert torch.cuda.memory_reserved() == 0


def test_adamw_allocates_in_the_first_step():
    """Twice the size of the weights, and nothing more in the second."""
    found = load_snippet(SNIPPET)
    state = [t for s in found.optimizer.state.values() for t in s.values()]
    sizes = sum(t.numel() for t in state if t.dim())
    assert sizes == 2 * (1024 * 1024 + 1024)
    assert {s["step"].item() for s in found.optimizer.state.values()} == {3}
    assert torch.equal(found.model.bias.grad, torch.full((1024,), 64.0))  # one step's


def test_the_functions_of_the_page_exist():
    text = (ROOT / "docs/en/performance/measure-memory.md").read_text("utf-8")
    for name in re.findall(r"torch\.cuda\.(\w+)\(", text):
        assert callable(getattr(torch.cuda, name)), name
    for name in ("memory_allocated", "max_memory_allocated", "max_memory_reserved"):
        assert callable(getattr(torch.accelerator, name))
    assert issubclass(torch.OutOfMemoryError, RuntimeError)
