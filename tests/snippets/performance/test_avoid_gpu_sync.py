"""avoid-gpu-sync: the losses in float64; values that Python asks for, counted."""

import re
from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.helpers import ROOT, load_snippet, quoted

SNIPPET = "performance/avoid_gpu_sync.py"
PAGE = "performance/avoid-gpu-sync"
SOURCE = (ROOT / "snippets" / SNIPPET).read_text("utf-8")


class Asked(TorchDispatchMode):
    """Counts the operators that hand a value, or a size, to Python."""

    NAMES = ("aten._local_scalar_dense.default", "aten.nonzero.default")

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        masks = function is torch.ops.aten.index.Tensor and any(
            i is not None and i.dtype == torch.bool for i in args[1]
        )
        self.count += masks or str(function) in self.NAMES
        return function(*args, **(kwargs or {}))


def asked(code):
    with Asked() as mode:
        code()
    return mode.count


def losses():
    """The same training in float64, one loss a step."""
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    loader = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(100)]
    weight, bias = (p.detach().double().numpy().copy() for p in model.parameters())
    for x, y in loader:
        x, y = x.double().numpy(), y.double().numpy()
        error = x @ weight.T + bias - y
        yield (error**2).mean()
        weight -= 0.1 * 2 * error.T @ x / len(x)
        bias -= 0.1 * 2 * error.mean(0)


def test_the_means_are_those_of_float64(capsys):
    load_snippet(SNIPPET)
    expected = list(losses())
    assert capsys.readouterr().out.splitlines() == [
        f"step 50: loss {sum(expected[:50]) / 50:.2f}",
        f"step 100: loss {sum(expected[50:]) / 50:.2f}",
    ]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_is_the_cpu():
    assert load_snippet(SNIPPET).device == torch.device("cpu")


def test_two_waits_in_a_hundred_steps(capsys):
    assert asked(lambda: exec(SOURCE, {})) == 2
    worse = SOURCE.replace("total += loss.detach()", "total += loss.item()")
    assert worse != SOURCE
    assert asked(lambda: exec(worse, {})) == 102


def test_the_sum_needs_no_graph():
    found = load_snippet(SNIPPET)
    assert not found.total.requires_grad
    assert found.total.item() == 0


@pytest.mark.parametrize(
    ("code", "count"),
    [
        (lambda x: x.sum().item(), 1),
        (lambda x: float(x[0]), 1),
        (lambda x: 1 if x.sum() > 5 else 2, 1),
        (lambda x: bool(x.isfinite().all()), 1),
        (lambda x: x[x > 0], 1),
        (lambda x: x.nonzero(), 1),
        (lambda x: torch.where(x > 0, x, 0), 0),
        (lambda x: x.masked_fill(x < 0, 0), 0),
    ],
)
def test_what_asks_for_a_value(code, count):
    x = torch.tensor([1.0, -2.0, 3.0])
    assert asked(lambda: code(x)) == count


def test_masked_fill_gives_the_same_sum():
    x = torch.tensor([1.0, -2.0, 3.0])
    mask = x > 0
    assert x.masked_fill(~mask, 0).sum() == x[mask].sum() == 4


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_the_binary_holds_the_message():
    """Raising it takes a GPU."""
    _, _, text = quoted(PAGE, "RuntimeError: called a synchronizing").partition(": ")
    folder = Path(torch.__file__).parent / "lib"
    binary = (folder / "libc10_cuda.so").read_bytes()
    assert re.search(re.escape(text).encode(), binary)
