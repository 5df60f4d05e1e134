"""cuda-graphs, by hand: a stand-in for the graph, made of recorded CPU operators."""

import contextlib

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.helpers import ROOT

SNIPPET = ROOT / "snippets/performance/cuda_graphs_gpu.py"
SOURCE = SNIPPET.read_text("utf-8").replace('"cuda"', '"cpu"')


class Recorder(TorchDispatchMode):
    """Notes each operator with its arguments, and forgets what it computed."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.calls.append((function, args, kwargs or {}, result))
        return result


class Graph:
    """What torch.cuda.CUDAGraph does, with the same memory at every replay."""

    def __init__(self):
        self.calls, self.replays = [], 0

    def replay(self):
        assert self.calls, "nothing was captured"
        self.replays += 1
        for function, args, kwargs, result in self.calls:
            again = function(*args, **kwargs)
            if isinstance(result, torch.Tensor):
                result.copy_(again)


class Stream:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def wait_stream(self, other):
        self.log.append(f"{self.name} waits for {other.name}")


@pytest.fixture
def cuda(monkeypatch):
    """Stand-ins for streams and graphs; the list of what was done with them."""
    log, main = [], Stream(None, "main")
    main.log = log

    @contextlib.contextmanager
    def capture(graph):
        log.append("capture")
        with Recorder() as recorder:
            yield
        graph.calls = recorder.calls
        for function, *_, result in recorder.calls:  # nothing runs during a capture
            if not function.is_view:
                result.fill_(float("nan"))

    @contextlib.contextmanager
    def stream(side):
        log.append(f"on {side.name}")
        yield

    for name, value in {
        "CUDAGraph": Graph,
        "graph": capture,
        "Stream": lambda: Stream(log, "side"),
        "current_stream": lambda: main,
        "stream": stream,
    }.items():
        monkeypatch.setattr(torch.cuda, name, value)
    return log


def test_capture_and_replay(cuda):
    names = {}
    exec(SOURCE, names)
    assert cuda == [
        "side waits for main",
        "on side",
        "main waits for side",
        "capture",
    ]
    assert names["graph"].replays == 5
    weight, bias = (p.detach().numpy() for p in names["model"].parameters())
    expected = np.maximum(names["batches"][-1].numpy() @ weight.T + bias, 0)
    np.testing.assert_allclose(names["static_y"].numpy(), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("static_x.copy_(x)", "static_x = x"),
        ("graph.replay()", "pass"),
        ("static_y = model(static_x)", "static_y = model(batches[0])"),
    ],
)
def test_the_snippet_notices_what_goes_wrong(cuda, right, wrong):
    assert SOURCE.count(right) >= 1
    with pytest.raises(AssertionError):
        exec(SOURCE.replace(right, wrong), {})


def test_an_output_is_overwritten_by_the_next_replay(cuda):
    x, graph = torch.ones(2), Graph()
    with torch.cuda.graph(graph):
        y = x * 2
    graph.replay()
    kept = y.clone()
    x.fill_(5)
    graph.replay()
    assert (y.tolist(), kept.tolist()) == ([10, 10], [2, 2])
