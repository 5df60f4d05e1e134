"""tf32-precision on a GPU: the same code on the CPU, where both are float32."""

import pytest
import torch

from tests.helpers import ROOT

SNIPPET = "performance/tf32_precision_gpu.py"
SOURCE = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
SMALL = SOURCE.replace('"cuda"', '"cpu"').replace("4096", "64")


@pytest.fixture(autouse=True)
def restored():
    before = torch.get_float32_matmul_precision()
    yield
    torch.set_float32_matmul_precision(before)


class Timer:
    """Runs the code once, and tells how often it was asked."""

    def __init__(self, code, globals):
        assert code == "a @ b"
        self.globals, self.median = globals, 1.0

    def blocked_autorange(self):
        return self


def run(monkeypatch):
    monkeypatch.setattr("torch.utils.benchmark.Timer", Timer)
    names = {}
    exec(SMALL, names)
    return names


def test_time_and_error_of_both(monkeypatch):
    found = run(monkeypatch)
    assert list(found["seconds"]) == list(found["errors"]) == ["highest", "high"]
    exact = found["a"].double().numpy() @ found["b"].double().numpy()
    error = abs((found["a"] @ found["b"]).numpy() - exact).max()
    assert found["errors"]["highest"] == pytest.approx(error)
    assert 0 < error < 1e-4
    assert torch.get_float32_matmul_precision() == "high"


def test_it_notices_a_precision_the_wrong_way_round(monkeypatch):
    seen = []
    monkeypatch.setattr(torch, "set_float32_matmul_precision", seen.append)
    product = torch.Tensor.__matmul__

    def rough(a, b):
        noise = 1e-2 if seen[-1:] == ["highest"] and a.dtype == torch.float32 else 0
        return product(a, b) + noise

    monkeypatch.setattr(torch.Tensor, "__matmul__", rough)
    with pytest.raises(AssertionError):
        run(monkeypatch)
