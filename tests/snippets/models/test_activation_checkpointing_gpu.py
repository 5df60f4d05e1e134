"""activation-checkpointing on a GPU: the demonstration with counted storages."""

import weakref

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.helpers import ROOT

SNIPPET = "models/activation_checkpointing_gpu.py"


class Allocator(TorchDispatchMode):
    """Adds up the bytes of the storages that live, and remembers the most."""

    def __init__(self):
        super().__init__()
        self.now = self.peak = 0
        self.known = weakref.WeakSet()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        results = function(*args, **(kwargs or {}))
        for tensor in results if isinstance(results, tuple | list) else [results]:
            if isinstance(tensor, torch.Tensor):
                self.note(tensor.untyped_storage())
        return results

    def note(self, storage):
        if storage not in self.known:
            self.known.add(storage)
            self.now += storage.nbytes()
            self.peak = max(self.peak, self.now)
            weakref.finalize(storage, self.free, storage.nbytes())

    def free(self, size):
        self.now -= size

    def reset(self):
        self.peak = self.now


@pytest.fixture
def allocator(monkeypatch):
    allocator, cuda = Allocator(), torch.cuda
    monkeypatch.setattr(cuda, "reset_peak_memory_stats", allocator.reset)
    monkeypatch.setattr(cuda, "max_memory_allocated", lambda: allocator.peak)
    return allocator


SOURCE = (ROOT / "snippets" / SNIPPET).read_text().replace('"cuda"', '"meta"')


def peaks(source, allocator) -> list[int]:
    """Run the snippet on tensors that are only counted."""
    names = {}
    with allocator:
        exec(source, names)
    return names["peaks"]


def test_the_peaks_are_those_of_the_formula(allocator):
    """In MiB: x (8192, 256) has 8, what is inside a block (8192, 1024) 32 each."""
    plain, checkpointed = peaks(SOURCE, allocator)
    weights = 12 * 2  # 12 blocks of two matrices of 1 MiB; a kept gradient as well
    kept = 12 * (8 + 32 + 32)  # the input, before and after GELU
    assert plain == pytest.approx(weights + kept, rel=0.15)
    # The inputs of 12 blocks, and of one block what is inside, with its gradient.
    assert checkpointed == pytest.approx(2 * weights + 12 * 8 + 4 * 32, rel=0.2)


def test_it_fails_without_the_checkpoint(allocator):
    line = "x = checkpoint(block, x, use_reentrant=False)"
    assert line in SOURCE
    with pytest.raises(AssertionError):
        peaks(SOURCE.replace(line, "x = block(x)"), allocator)


def test_one_checkpoint_around_everything_does_not_lower_the_peak(allocator):
    """The pitfall of the page."""
    whole = SOURCE.replace("for block in blocks:", "for block in [blocks]:")
    assert whole != SOURCE
    with pytest.raises(AssertionError) as failed:
        peaks(whole, allocator)
    plain, checkpointed = map(int, str(failed.value).strip("[]").split(", "))
    assert checkpointed > 0.99 * plain


def test_gradients_of_the_first_run_do_not_count(allocator):
    _, cleared = peaks(SOURCE, allocator)
    _, kept = peaks(SOURCE.replace("    blocks.zero_grad()\n", ""), allocator)
    assert kept > cleared
    old = SOURCE.replace("    torch.cuda.reset_peak_memory_stats()\n", "")
    with pytest.raises(AssertionError):
        peaks(old, allocator)
