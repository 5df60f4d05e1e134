"""compile-dynamic-recompile: compilations, counted by a backend of our own."""

import logging
from contextlib import nullcontext

import pytest
import torch
from torch import nn
from torch._dynamo.testing import CompileCounter
from torch._dynamo.utils import counters

from tests.helpers import assert_documented, load_snippet, raises_as_documented

SNIPPET = "performance/compile_dynamic_recompile.py"
PAGE = "performance/compile-dynamic-recompile"


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    counters.clear()
    # The default; a library that another test imports may raise it.
    with torch._dynamo.config.patch(recompile_limit=8):
        yield
    torch._dynamo.reset()


def versions(function, calls, **options):
    """How many versions there are after each call."""
    counter = CompileCounter()
    run = torch.compile(function, backend=counter, **options)
    counts = []
    for arguments in calls:
        run(*arguments)
        counts.append(counter.frame_count)
    return counts


def rows(*sizes, features=3):
    return [(torch.zeros(size, features),) for size in sizes]


def marked(x, dim=0, **limits):
    torch._dynamo.mark_dynamic(x, dim, **limits)
    return (x,)


def affine(x):
    return x * 2 + 1


def test_what_the_snippet_prints_and_computes(capsys):
    found = load_snippet(SNIPPET)
    # two graphs without the mark, and one with it: its loop compiled no more
    assert counters["stats"]["unique_graphs"] == 3
    sizes = [len(x) for x, _ in found.loader]
    assert sizes == [8, 5, 12, 3]
    torch._dynamo.reset()  # forget what is known of Linear.forward
    counts = versions(nn.Linear(16, 4), rows(*sizes, features=16))
    assert capsys.readouterr().out.splitlines() == [
        f"batch of {size}: versions so far: {count}"
        for size, count in zip(sizes, counts, strict=True)
    ]
    weight, bias = (p.detach().numpy() for p in found.model.parameters())
    for x, _ in found.loader:
        expected = torch.from_numpy(x.numpy() @ weight.T + bias)
        torch.testing.assert_close(found.model(x).detach(), expected)


def test_it_starts_again_before_the_mark(monkeypatch):
    times = []
    monkeypatch.setattr(
        torch.compiler,
        "reset",
        lambda: (
            times.append(counters["stats"]["unique_graphs"]),
            torch._dynamo.reset(),
        ),
    )
    load_snippet(SNIPPET)
    assert times == [2]


def test_the_last_loop_forbids_new_versions(monkeypatch):
    stances = []
    monkeypatch.setattr(
        torch.compiler, "set_stance", lambda name: stances.append(name) or nullcontext()
    )
    load_snippet(SNIPPET)
    assert stances == ["fail_on_recompile"]


def test_the_mark_is_at_dimension_0():
    assert load_snippet(SNIPPET).loader[0][0]._dynamo_dynamic_indices == {0}


def test_the_second_size_is_for_any_size():
    assert versions(affine, rows(8, 5, 12, 4)) == [1, 2, 2, 2]
    assert versions(nn.Linear(3, 2), rows(8, 5, 12, 4)) == [1, 2, 2, 2]
    assert versions(affine, rows(8, 5, 12, 4), dynamic=False) == [1, 2, 3, 4]


def test_marked_once_for_all():
    calls = [marked(torch.zeros(8, 3)), *rows(5, 12, 4)]
    assert versions(affine, calls) == [1, 1, 1, 1]


def test_a_range():
    calls = [marked(torch.zeros(3, n), 1, min=2, max=4096) for n in (16, 2, 4096)]
    assert versions(affine, [*calls, (torch.zeros(3, 5000),)]) == [1, 1, 1, 2]


def test_a_copy_has_no_mark_and_size_1_ignores_it():
    (x,) = marked(torch.zeros(8, 3))
    assert versions(affine, [(x.double(),), (torch.zeros(5, 3).double(),)]) == [1, 2]
    torch._dynamo.reset()
    assert versions(affine, [marked(torch.zeros(1, 3)), *rows(5, 7)]) == [1, 2, 2]


def test_equal_sizes_are_taken_to_be_always_equal():
    sizes = rows(16, 5, 7, features=16)
    assert versions(affine, sizes, dynamic=True) == [1, 2, 2]
    torch._dynamo.reset()
    calls = [marked(torch.zeros(16, 16)), *sizes[1:]]
    assert versions(affine, calls) == [1, 1, 1]
    torch._dynamo.reset()
    sizes = rows(8, 5, 7, 1, 1, features=16)
    assert versions(affine, sizes, dynamic=True) == [1, 1, 1, 2, 2]


class Counting(nn.Module):
    def __init__(self, step):
        super().__init__()
        self.step = step

    def forward(self, x):
        self.step = self.step + 1
        return x * self.step


class Buffered(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("step", torch.tensor(0))

    def forward(self, x):
        self.step += 1
        return x * self.step


ONE = torch.zeros(3)
TEN = range(2, 12)
GROWS = [*range(1, 9), 8, 8]


@pytest.mark.parametrize(
    ("function", "calls", "expected"),
    [
        (lambda x, k: x * k, [(ONE, n) for n in TEN], [1, *[2] * 9]),
        (lambda x, k: x * k, [(ONE, n + 0.5) for n in TEN], [1, *[2] * 9]),
        (lambda x, k: x * len(k), [(ONE, f"{n}") for n in TEN], GROWS),
        (lambda xs: sum(xs), [([ONE] * n,) for n in TEN], GROWS),
        (torch.stack, [(torch.zeros(n, 3).unbind(),) for n in TEN], GROWS),
        (
            lambda x: x.sum(0),
            [(torch.zeros(n, 3),) for n in range(4, 14)],
            [1, *[2] * 9],
        ),
        (Counting(0), [(ONE,)] * 10, GROWS),
        (Buffered(), [(ONE,)] * 10, [1] * 10),
    ],
)
def test_the_table(function, calls, expected):
    assert versions(function, calls) == expected


def test_dtype_gradients_and_modes():
    calls = [(torch.zeros(3, dtype=d),) for d in (torch.float32, torch.float64)]
    calls.append((torch.zeros(3, requires_grad=True),))
    assert versions(affine, calls) == [1, 2, 3]
    torch._dynamo.reset()
    model, counter = nn.Dropout(), CompileCounter()
    run = torch.compile(model, backend=counter)
    run(ONE)
    model.eval()
    run(ONE)
    with torch.no_grad():
        run(ONE)
    assert counter.frame_count == 3


def test_the_limit(caplog):
    run = torch.compile(Counting(0), backend="eager", fullgraph=True)
    for _ in range(8):
        run(ONE)
    with raises_as_documented(PAGE, "FailOnRecompileLimitHit"):
        run(ONE)


def test_the_log_names_the_limit_and_the_value(caplog):
    logger = logging.getLogger("torch._dynamo")
    run = torch.compile(Counting(0), backend="eager")
    logger.addHandler(caplog.handler)  # it does not propagate
    try:
        for _ in range(10):
            assert not run(ONE).any()
    finally:
        logger.removeHandler(caplog.handler)
    messages = [record.getMessage() for record in caplog.records]
    (said,) = (each for each in messages if "recompile_limit" in each)
    assert_documented(PAGE, "torch._dynamo hit", said)
    assert "last reason: 0/7: self.step == 7" in caplog.text


def test_the_limit_can_be_raised_by_either_name():
    for name in ("recompile_limit", "cache_size_limit"):
        torch._dynamo.reset()
        with torch._dynamo.config.patch({name: 16}):
            assert versions(Counting(0), [(ONE,)] * 10)[-1] == 10


def test_the_stance_and_its_reason():
    run = torch.compile(affine, backend="eager")
    run(torch.zeros(8, 16))
    with torch.compiler.set_stance("fail_on_recompile"):
        run(torch.ones(8, 16))
        with raises_as_documented(PAGE, "RuntimeError: Detected recompile") as caught:
            run(torch.zeros(5, 16))
    text = str(caught.value)
    assert "triggered by" in text
    assert "tensor 'x' size mismatch at index 0. expected 8, actual 5" in text


def test_code_for_one_size_only():
    def fixed(x):
        return x + torch.ones(8, 3)

    run = torch.compile(fixed, backend="eager")
    with raises_as_documented(PAGE, "ConstraintViolationError"):
        run(*marked(torch.zeros(8, 3)))
    torch._dynamo.reset()
    x = torch.zeros(8, 3)
    torch._dynamo.maybe_mark_dynamic(x, 0)
    assert torch.equal(run(x), torch.ones(8, 3))
    torch._dynamo.reset()
    calls = [marked(torch.zeros(8, 3)), *rows(5)]
    assert versions(lambda x: x + torch.ones(x.shape[0], 3), calls) == [1, 1]
