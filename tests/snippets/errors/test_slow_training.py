"""slow-training: the share with a clock of its own, and calls counted by hand."""

import contextlib
import io
import re
import runpy
import time

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet

snippet = load_snippet("errors/slow_training.py")
PAGE = "errors/slow-training"


@pytest.fixture(scope="module")
def printed():
    out = io.StringIO()
    path = ROOT / "snippets/errors/slow_training.py"
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(path), run_name="__main__")
    return out.getvalue()


def test_the_table_quotes_what_was_counted(printed):
    assert printed.startswith("mostly waiting for data: True\n")
    each, seldom, large = re.findall(r"(\d+) calls, (\d+) waits", printed)
    rows, at_once = re.search(r"row by row (\d+), at once (\d+)", printed).groups()
    pairs = (each[1], seldom[1]), (seldom[0], large[0]), (rows, at_once)
    for language in ("en", "zh"):
        page = (ROOT / f"docs/{language}/{PAGE}.md").read_text(encoding="utf-8")
        for before, after in pairs:
            assert f"{before} → {after}" in page


def test_the_counts_by_hand(printed):
    """In a step: 2 slices, 3 layers, the loss and backward; 512 rows are divided."""
    numbers = [int(n) for n in re.findall(r"\d+", printed)]
    steps = 512 // 8
    assert numbers[:2] == [steps * 7 + steps, steps]
    assert numbers[2:4] == [steps * 7 + steps // 16, steps // 16]
    assert numbers[4:6] == [4 * 7 + 4, 4]
    # Two calls for each row, one to begin the loop, others to put them together.
    assert 2 * 512 < numbers[6] < 2 * 512 + 5
    assert numbers[7] == 2


def test_the_share_of_waiting(clock):
    def loader():
        for seconds in (3, 1, 2):
            clock(seconds)
            yield seconds

    seen = []

    def step(batch):
        seen.append(batch)
        clock(1)
        return torch.zeros(())

    assert snippet.measure(loader(), step) == 6 / 9
    assert seen == [3, 1, 2]


def test_files_are_slow(clock):
    assert snippet.measure(snippet.read_files(), torch.sum) == 1
    begin = time.perf_counter()
    assert [batch.shape for batch in snippet.read_files()] == [(8, 64)] * 4
    assert time.perf_counter() - begin == pytest.approx(0.32)


def test_a_gpu_is_waited_for(clock):
    """What it takes until the loss is there counts as computing."""

    class Loss:
        def item(self):
            clock(4)

    def loader():
        clock(1)
        yield 0

    assert snippet.measure(loader(), lambda batch: Loss()) == 1 / 5


def test_calls_are_noted_and_carried_out():
    with snippet.Calls() as calls:
        y = nn.functional.relu(torch.tensor([-1.0, 2.0])).sum()
    assert y.item() == 2
    assert calls.names[-2:] == ["relu", "sum"]
