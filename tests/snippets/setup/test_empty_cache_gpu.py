"""empty-cache on a GPU: the demonstration against a simulated allocator."""

import weakref

import pytest
import torch

from tests.helpers import ROOT, load_snippet

SNIPPET = "setup/empty_cache_gpu.py"
MIB = 2**20


class Allocator:
    """Keeps freed blocks until it is told to give them back."""

    def __init__(self, extra: int = 0):
        self.tensors, self.reserved, self.extra = 0, 0, extra

    def zeros(self, *size, dtype, device):
        assert device == "cuda"
        tensor = torch.empty(*size, dtype=dtype, device="meta")
        self.tensors += tensor.nbytes
        self.reserved = max(self.reserved, self.tensors + self.extra)
        weakref.finalize(tensor, self.free, tensor.nbytes)
        return tensor

    def free(self, size):
        self.tensors -= size

    def empty_cache(self):
        self.reserved = self.tensors and self.tensors + self.extra


def run(monkeypatch, allocator: Allocator) -> None:
    cuda = torch.cuda
    monkeypatch.setattr(torch, "zeros", allocator.zeros)
    monkeypatch.setattr(cuda, "memory_allocated", lambda: allocator.tensors)
    monkeypatch.setattr(cuda, "memory_reserved", lambda: allocator.reserved)
    monkeypatch.setattr(cuda, "empty_cache", allocator.empty_cache)
    source = (ROOT / "snippets" / SNIPPET).read_text()
    exec(source, {"__name__": "__main__"})


@pytest.mark.parametrize("extra", [0, 16])
def test_the_demonstration_holds_for_a_caching_allocator(monkeypatch, capsys, extra):
    run(monkeypatch, Allocator(extra * MIB))
    expected = f"{64 + extra} MiB went back to the driver\n"
    assert capsys.readouterr().out == expected


def test_it_fails_for_an_allocator_that_caches_nothing(monkeypatch):
    allocator = Allocator()
    allocator.free = lambda size: (
        Allocator.free(allocator, size),
        allocator.empty_cache(),
    )
    with pytest.raises(AssertionError):
        run(monkeypatch, allocator)


def test_it_fails_where_the_cache_can_not_be_emptied(monkeypatch):
    allocator = Allocator()
    allocator.empty_cache = lambda: None
    with pytest.raises(AssertionError):
        run(monkeypatch, allocator)


def test_bytes_become_whole_mib(monkeypatch):
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda: 3 * MIB - 1)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: 5 * MIB)
    assert load_snippet(SNIPPET).gpu_memory() == (2, 5)
