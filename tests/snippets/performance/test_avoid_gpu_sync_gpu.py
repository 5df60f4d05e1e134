"""avoid-gpu-sync on a GPU: the same code on the CPU, with a mode that refuses."""

import pytest
import torch

from tests.helpers import ROOT
from tests.snippets.performance.test_avoid_gpu_sync import Asked

SNIPPET = "performance/avoid_gpu_sync_gpu.py"
SOURCE = (ROOT / "snippets" / SNIPPET).read_text("utf-8").replace('"cuda"', '"cpu"')


class Refusing(Asked):
    """Raises what the debug mode "error" raises."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        before = self.count
        result = super().__torch_dispatch__(function, types, args, kwargs)
        if self.count > before:
            raise RuntimeError("called a synchronizing CUDA operation")
        return result


@pytest.fixture
def modes(monkeypatch):
    """The modes that were set; the refusal holds between the two calls."""
    modes, refusing = [], Refusing()

    def switch(mode):
        modes.append(mode)
        if mode == "error":
            refusing.__enter__()
        else:
            refusing.__exit__(None, None, None)

    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", switch)
    return modes


def test_it_finds_the_two_that_wait(modes):
    names = {}
    exec(SOURCE, names)
    assert names["waits"] == ["item", "mask"]
    assert modes == ["error", "default"]


def test_it_notices_that_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", lambda mode: None)
    with pytest.raises(AssertionError):
        exec(SOURCE, {})
