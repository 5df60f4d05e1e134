"""activation-checkpointing on a GPU: the demonstration with counted storages."""

import weakref

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from tests.helpers import ROOT, load_snippet

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


def demonstrate(source: str) -> None:
    exec(source.replace('"cuda"', '"meta"'), {"__name__": "__main__"})


def test_the_demonstration_holds_for_counted_storages(allocator, capsys):
    with allocator:
        demonstrate((ROOT / "snippets" / SNIPPET).read_text())
    assert capsys.readouterr().out == "checkpointing more than halves the peak\n"


def test_it_fails_without_the_checkpoint(allocator):
    source = (ROOT / "snippets" / SNIPPET).read_text()
    line = "x = checkpoint(block, x, use_reentrant=False)"
    assert line in source
    with pytest.raises(AssertionError), allocator:
        demonstrate(source.replace(line, "x = block(x)"))


def test_one_checkpoint_around_everything_does_not_lower_the_peak(allocator):
    snippet = load_snippet(SNIPPET)
    with allocator, torch.device("meta"):
        x = torch.randn(1024, 16)
        parts = [nn.Sequential(nn.Linear(16, 16), nn.GELU()) for _ in range(20)]
        plain = snippet.peak_bytes(nn.Sequential(*parts), x)
        each = snippet.peak_bytes(snippet.Checkpointed(*parts), x)
        whole = snippet.peak_bytes(snippet.Checkpointed(nn.Sequential(*parts)), x)
    assert each < 0.8 * plain
    assert whole > 0.99 * plain


def test_gradients_of_an_earlier_run_do_not_count(allocator):
    snippet = load_snippet(SNIPPET)
    with allocator, torch.device("meta"):
        model, x = nn.Linear(64, 64, bias=False), torch.randn(1, 64)
        first = snippet.peak_bytes(model, x)
        assert snippet.peak_bytes(model, x) == first
        assert first >= 2 * 64 * 64 * 4  # the weight and its gradient
        torch.zeros(10**6)  # a peak that is over
        assert snippet.peak_bytes(model, x) == first


def test_outputs_are_those_of_sequential():
    snippet = load_snippet(SNIPPET)
    torch.manual_seed(0)
    parts, x = [nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)], torch.randn(5, 4)
    y, z = nn.Sequential(*parts)(x), snippet.Checkpointed(*parts)(x)
    assert torch.equal(y, z)
