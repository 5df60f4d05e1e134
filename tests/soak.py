"""Repeat blocks and tests beside processes that keep every core busy: make soak.

    python -m tests.soak [--runs N] [--idle] [PATH...]

The paths are pytest's (pages, test files, single items); by default, all that starts
processes. A row an item: runs, failures, hangs (failures by a time limit), the slowest.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from cookbook.book.catalogue import Catalogue

STARTS = re.compile(r"torch\.distributed|torchrun|multiprocessing|num_workers=[1-9]")
HANG = re.compile(r"still running at its time limit|Timeout")


@dataclass
class Row:
    """What came of one block or test."""

    runs: int = 0
    failures: int = 0
    hangs: int = 0
    slowest: float = 0.0

    def add(self, case: ElementTree.Element) -> None:
        fault = next((e for e in case if e.tag in ("failure", "error")), None)
        self.runs += 1
        self.slowest = max(self.slowest, float(case.get("time")))
        if fault is not None:
            self.failures += 1
            self.hangs += bool(HANG.search(f"{fault.get('message')}{fault.text}"))


def that_starts_processes(root: Path) -> list[str]:
    """The English pages and the tests of what does."""
    pages = [
        str(recipe.page_for("en").path)
        for recipe in Catalogue(root).recipes
        if any(STARTS.search(block.code) for block in recipe.blocks)
    ]
    tests = sorted(root.glob("tests/snippets/*/test_*.py"))
    return [*pages, *(str(t) for t in tests if STARTS.search(t.read_text("utf-8")))]


def soak(paths: list[str], runs: int) -> dict[str, Row]:
    """Run pytest on the paths so often; a row for each item that was not skipped."""
    rows = defaultdict(Row)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs):
            report = Path(folder, f"{number}.xml")
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
            command += [f"--junitxml={report}", *paths]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            print(f"run {number + 1}: {done.stdout.rstrip().rpartition(chr(10))[2]}")
            if done.returncode:
                print(done.stdout, done.stderr, flush=True)
            for case in ElementTree.parse(report).iter("testcase"):
                if case.find("skipped") is None:
                    rows[f"{case.get('classname')} {case.get('name')}"].add(case)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--idle", action="store_true", help="beside nothing")
    parser.add_argument("paths", nargs="*")
    given = parser.parse_args()
    paths = given.paths or that_starts_processes(Path.cwd())
    count = 0 if given.idle else len(os.sched_getaffinity(0))
    endless = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(endless) for _ in range(count)]
    try:
        rows = soak(paths, given.runs)
    finally:
        for process in busy:
            process.kill()
    print(f"\n{'runs':>5}{'failed':>8}{'hung':>6}{'slowest':>9}")
    for name, row in sorted(rows.items()):
        print(
            f"{row.runs:>5}{row.failures:>8}{row.hangs:>6}{row.slowest:>8.1f}s  {name}"
        )
    return int(any(row.failures for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
