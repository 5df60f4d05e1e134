"""What it costs to run each block in a process of its own.

A block times its own work, so the rest of what its run takes is the cost of isolation.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.table import Measure, say
from cookbook.running.runner import Job, Runner

ROOT = Path(__file__).parents[1]
ROUNDS = 15
TIMED = """\
import time; started = time.perf_counter()
{source}
print("\\n%.6f" % (time.perf_counter() - started))
"""
SOURCES = {
    "near-empty block": "import torch\n\nassert torch.ones(2).sum() == 2\n",
    "label_smoothing.py": (ROOT / "snippets/training/label_smoothing.py").read_text(),
}


def measures() -> Iterator[Measure]:
    """Yield the measures of this part."""
    with tempfile.TemporaryDirectory() as folder, Runner() as runner:
        for name, source in SOURCES.items():
            say(f"{name}: {ROUNDS} isolated runs")
            costs = [
                cost(runner, Path(folder, f"{number}_{name}.py"), source)
                for number in range(ROUNDS + 1)
            ][1:]  # the first one waited until the server had loaded torch
            milliseconds = median(costs) * 1000
            yield Measure(
                f"{name}: isolation over its own work", milliseconds, "ms", "<= 40"
            )


def cost(runner: Runner, file: Path, source: str) -> float:
    """Seconds that a run took beyond its own work; a new file, or it would not run."""
    file.write_text(TIMED.format(source=source), encoding="utf-8")
    started = time.perf_counter()
    result = runner.submit(Job((str(file),))).result()
    seconds = time.perf_counter() - started
    if result.problem:
        raise RuntimeError(f"{result.problem}\n{result.stderr}")
    return seconds - float(result.stdout.split()[-1])
