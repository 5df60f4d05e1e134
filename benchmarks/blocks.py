"""What it costs to run each block in a process of its own.

A block is run through the runner and as ``python file.py``, in turns. It times
its own work, so the rest of what a run takes is the cost of isolation.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from statistics import median

from benchmarks.table import Measure, say, show
from cookbook.catalogue import Catalogue
from cookbook.running.collector import job_of
from cookbook.running.runner import Job, Runner

ROOT = Path(__file__).parents[1]
ROUNDS = 15
PARALLEL_ROUNDS = 5
BLOCKS_PER_LANE = 20  # through the runner; python file.py is slow enough for one
TIMED = """\
import time; started = time.perf_counter()
{source}
print("\\n%.6f" % (time.perf_counter() - started))
"""
NEAR_EMPTY = """\
import torch

assert torch.ones(2).sum() == 2
"""


def measures() -> Iterator[Measure]:
    """Yield the measures of this part."""
    with tempfile.TemporaryDirectory() as folder, Runner() as runner:
        bench = Bench(Path(folder), runner)
        bench.run_isolated(NEAR_EMPTY)  # wait until the server has loaded torch
        yield from bench.one_at_a_time("near-empty block", NEAR_EMPTY)
        yield from bench.one_at_a_time("label_smoothing.py", recipe_source())
        yield from bench.all_lanes()
    yield languages()


def recipe_source() -> str:
    """A real snippet, of the usual size."""
    return (ROOT / "snippets/training/label_smoothing.py").read_text("utf-8")


class Bench:
    """Runs blocks, each from a new file: equal jobs would run once."""

    def __init__(self, folder: Path, runner: Runner):
        self.folder = folder
        self.runner = runner
        self.numbers = count()

    def file(self, source: str) -> str:
        path = self.folder / f"block_{next(self.numbers)}.py"
        path.write_text(TIMED.format(source=source), encoding="utf-8")
        return str(path)

    def run_isolated(self, source: str) -> float:
        """Run a block through the runner; seconds of its own work."""
        result = self.runner.submit(Job((self.file(source),))).result()
        if result.problem:
            raise RuntimeError(f"{result.problem}\n{result.stderr}")
        return float(result.stdout.split()[-1])

    def run_script(self, source: str) -> float:
        """Run a block as ``python file.py``; seconds of its own work."""
        command = [sys.executable, self.file(source)]
        result = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=True
        )
        return float(result.stdout.split()[-1])

    def one_at_a_time(self, name: str, source: str) -> Iterator[Measure]:
        say(f"{name}: {ROUNDS} rounds of one isolated run and one python file.py")
        over, isolated, script = [], [], []
        for _ in range(ROUNDS):
            seconds, own = timed(self.run_isolated, source)
            isolated.append(seconds)
            over.append(seconds - own)
            script.append(timed(self.run_script, source)[0])
        cost = median(over) * 1000
        ratio = median(script) / median(isolated)
        yield Measure(f"{name}: isolation over its own work", cost, "ms", "<= 40")
        yield Measure(f"{name}: python file.py / isolated", ratio, "x", ">= 25")

    def all_lanes(self) -> Iterator[Measure]:
        lanes = os.cpu_count()
        say(f"near-empty block, {lanes} at a time: {PARALLEL_ROUNDS} rounds")
        isolated, script = [], []
        for _ in range(PARALLEL_ROUNDS):
            blocks = lanes * BLOCKS_PER_LANE
            isolated.append(seconds_each(self.run_isolated, blocks, lanes))
            script.append(seconds_each(self.run_script, lanes, lanes))
        each = median(isolated) * 1000
        ratio = median(script) / median(isolated)
        yield Measure(f"{lanes} lanes: an isolated block every", each, "ms")
        yield Measure(f"{lanes} lanes: python file.py / isolated", ratio, "x", ">= 25")


def timed(run: Callable, source: str) -> tuple[float, float]:
    """Seconds of a whole run, and of the block's own work in it."""
    started = time.perf_counter()
    own = run(source)
    return time.perf_counter() - started, own


def seconds_each(run: Callable, blocks: int, lanes: int) -> float:
    """Seconds per block when that many run, as many at a time as there are lanes."""
    started = time.perf_counter()
    with ThreadPoolExecutor(lanes) as threads:
        list(threads.map(run, [NEAR_EMPTY] * blocks))
    return (time.perf_counter() - started) / blocks


def languages() -> Measure:
    """How many runs there are for each block that both languages show."""
    recipes = Catalogue(ROOT).recipes
    english = {job_of(b, r.pages["en"]) for r in recipes for b in r.blocks}
    both = {job_of(b, p) for r in recipes for p in r.pages.values() for b in p.blocks}
    runs = len(both) / len(english)
    name = f"runs per block shown in two languages ({len(english)} blocks)"
    return Measure(name, runs, "", "<= 1")


if __name__ == "__main__":
    sys.exit(show(measures()))
