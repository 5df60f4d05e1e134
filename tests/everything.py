"""Run every part of the tests, whatever fails, and end with a table: make test.

python -m tests.everything [PART...]
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

from cookbook.running.runner import usable_cores

PYTEST = [sys.executable, "-m", "pytest"]
WORKERS = usable_cores() + 1  # a test often waits: for a process, a browser, a limit
PARALLEL = [*PYTEST, "-n", str(WORKERS), "--dist", "worksteal"]
RECIPES = ("snippets", "chains", "paddle", "gpu")  # folders of tests
ENGINE = [f"tests/{one}" for one in ("engine", "hygiene", "search", "site", "wheel")]


def shares() -> list[list[str]]:
    """The tests of recipes, a command a worker: each imports only its files' snippets.

    One worker each, since pytest-xdist goes on with another where one has died.
    """
    files = [
        str(f) for one in RECIPES for f in sorted(Path("tests", one).rglob("test_*.py"))
    ]
    alone = [*PYTEST, "-n", "1", "-p", "no:cacheprovider"]  # which two would share
    return [[*alone, *files[n::WORKERS]] for n in range(WORKERS)]


# What a part runs, side by side where it is more than one command.
PARTS = {
    "check": [[sys.executable, "-m", "cookbook", "check"]],
    "blocks": [[*PYTEST, "docs"]],
    "recipes": shares(),
    "engine": [[*PARALLEL, *ENGINE]],
}
FORMAT = "{:<10}{:>8}{:>8}{:>9}{:>9}"


def run(commands: list[list[str]], folder: Path) -> list[int]:
    """Run a part; how many of it passed, failed and were skipped."""
    with ThreadPoolExecutor(len(commands)) as pool:
        reports = [folder / f"{n}.xml" for n in range(len(commands))]
        counts = pool.map(run_one, commands, reports)
    return [sum(each) for each in zip(*counts, strict=True)]


def run_one(command: list[str], report: Path) -> tuple[int, int, int]:
    """The same of one of its commands."""
    if "pytest" in command:
        command = [*command, f"--junitxml={report}"]
    # Two workers with a thread for each core each would wait for one another, and a
    # thread that waits would keep its core busy: a test of 9 s took 66.
    threads = {"OMP_WAIT_POLICY": "passive"}
    if "docs" not in command:
        threads["OMP_NUM_THREADS"] = "1"
    code = subprocess.run(
        command, env={**os.environ, **threads}, check=False
    ).returncode
    if not report.exists():
        return int(code == 0), int(code != 0), 0
    suite = ElementTree.parse(report).getroot()[0]
    count = {name: int(suite.get(name)) for name in ("tests", "skipped")}
    failed = int(suite.get("failures")) + int(suite.get("errors"))
    if code and not failed:  # it was stopped, or collected nothing
        failed = 1
    return count["tests"] - failed - count["skipped"], failed, count["skipped"]


def main(parts: list[str]) -> int:
    rows = []
    for part in parts or PARTS:
        print(f"\n=== {part}", flush=True)
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            counts = run(PARTS[part], Path(folder))
        minutes, seconds = divmod(round(time.monotonic() - started), 60)
        rows.append((part, *counts, f"{minutes}:{seconds:02}"))
    print("\n" + FORMAT.format("part", "passed", "failed", "skipped", "time"))
    for row in rows:
        print(FORMAT.format(*row))
    passed, failed, skipped = (sum(row[n] for row in rows) for n in (1, 2, 3))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
