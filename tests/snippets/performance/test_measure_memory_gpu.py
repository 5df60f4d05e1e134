"""measure-memory on a GPU: the same code with counted storages, by hand in MiB."""

import pytest
import torch

from tests.helpers import ROOT
from tests.snippets.models.test_activation_checkpointing import Allocator

SNIPPET = "performance/measure_memory_gpu.py"
SOURCE = (ROOT / "snippets" / SNIPPET).read_text("utf-8").replace('"cuda"', '"meta"')


@pytest.fixture
def calls(monkeypatch):
    """What the snippet asks of the recorder, in order."""
    calls, memory = [], torch.cuda.memory
    monkeypatch.setattr(
        memory, "_record_memory_history", lambda **kw: calls.append(("record", kw))
    )
    monkeypatch.setattr(
        memory, "_dump_snapshot", lambda name: calls.append(("dump", name))
    )
    return calls


@pytest.fixture
def allocator(monkeypatch):
    allocator = Allocator()
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", allocator.reset)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: allocator.peak)
    return allocator


def run(source, allocator):
    names = {}
    with allocator:
        exec(source, names)
    return names["peaks"]


def test_the_peaks_are_those_of_the_formula(calls, allocator):
    """In MiB: x has 32, the weights 16, each of the wide activations 128."""
    peaks = run(SOURCE, allocator)
    weights, x, wide = 16, 32, 128
    assert peaks["forward"] == pytest.approx(weights + x + 2 * wide, rel=0.05)
    # the kept output of ReLU, its gradient, and the gradient before ReLU
    assert peaks["backward"] == pytest.approx(weights + x + 3 * wide, rel=0.08)
    # weights, gradients, two states; and what the step needs for a while
    least = 4 * weights + x
    assert least <= peaks["optimizer"] <= least + 3 * weights


def test_the_history_is_dumped_before_it_is_switched_off(calls, allocator):
    run(SOURCE, allocator)
    assert calls == [
        ("record", {"max_entries": 100_000}),
        ("dump", "memory.pickle"),
        ("record", {"enabled": None}),
    ]


def test_without_the_reset_every_phase_shows_the_highest_so_far(calls, allocator):
    line = "    torch.cuda.reset_peak_memory_stats()\n"
    assert line in SOURCE
    with pytest.raises(AssertionError):
        run(SOURCE.replace(line, ""), allocator)
