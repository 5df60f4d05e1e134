"""cuda-streams: the order of copies, waits and uses; tests/gpu proves what it gains."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import torch

from tests.helpers import load_snippet

snippet = load_snippet("performance/cuda_streams.py")


@pytest.fixture
def events(monkeypatch):
    """What reaches two streams that are no streams, in order."""
    noted, inside = [], []

    def wait_stream(stream):
        assert stream is side
        noted.append("wait")

    main, side = SimpleNamespace(wait_stream=wait_stream), SimpleNamespace()

    @contextmanager
    def stream(given):
        assert given is side
        inside.append(given)
        noted.append("copy")
        yield
        inside.pop()

    def to(tensor, device, non_blocking):
        assert device == "cuda"
        assert non_blocking
        assert inside
        return tensor.clone()

    def record_stream(tensor, given):
        assert given is main
        noted.append(f"record {tensor[0].item():g}")

    monkeypatch.setattr(torch.cuda, "Stream", lambda device: side)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: main)
    monkeypatch.setattr(torch.cuda, "stream", stream)
    monkeypatch.setattr(torch.Tensor, "to", to)
    monkeypatch.setattr(torch.Tensor, "record_stream", record_stream)
    return noted


def test_each_copy_starts_before_the_batch_before_it_is_used(events):
    loader = [(torch.full((2,), i), torch.full((1,), 10 * i)) for i in (1, 2, 3)]
    for x, y in snippet.prefetch(loader):
        assert y.item() == 10 * x[0].item()
        events.append(f"use {x[0].item()}")
    after = ["wait", "record 1", "record 10"]
    expected = ["copy", *after, "copy", "use 1"]
    expected += ["wait", "record 2", "record 20", "copy", "use 2"]
    expected += ["wait", "record 3", "record 30", "use 3"]
    assert events == expected


@pytest.mark.parametrize("n", [0, 1])
def test_few_batches(n, events):
    loader = [(torch.ones(2),)] * n
    assert len(list(snippet.prefetch(loader))) == n
