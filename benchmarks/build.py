"""What building the site costs, and how that grows with the number of recipes."""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.synthetic import grow
from benchmarks.table import Measure, say
from cookbook.catalogue import Catalogue

ROOT = Path(__file__).parents[1]
SMALL, LARGE = 300, 1000  # recipes


def measures() -> Iterator[Measure]:
    """Yield the measures of this part; says what it does, as it takes minutes."""
    each = {}
    for size in (len(Catalogue(ROOT).recipes), SMALL, LARGE):
        say(f"{size} recipes")
        each[size] = seconds(size) / size
        yield Measure(f"{size} recipes: each, in both languages", each[size], "s CPU")
    name = f"cost per recipe at {LARGE:,} / at {SMALL}"
    yield Measure(name, each[LARGE] / each[SMALL], "x", "<= 1.5")


def seconds(size: int) -> float:
    """CPU seconds of building a site: steadier than the clock on a shared machine."""
    with tempfile.TemporaryDirectory(prefix="cookbook-bench-") as folder:
        grow(ROOT, Path(folder), size)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"],
            cwd=folder,
            env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
