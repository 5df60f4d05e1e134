"""Run every part of the tests, whatever fails, and end with a table: make test.

python -m tests.everything [PART...]
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

PYTEST = [sys.executable, "-m", "pytest"]
PARALLEL = [*PYTEST, "-n", "auto", "--dist", "worksteal"]
PARTS = {
    "check": [sys.executable, "-m", "cookbook", "check"],
    "blocks": [*PYTEST, "docs"],
    "recipes": [*PARALLEL, "tests/snippets", "tests/chains", "tests/paddle"],
    "engine": [*PARALLEL, "tests/engine", "tests/search", "tests/site"],
}
FORMAT = "{:<10}{:>8}{:>8}{:>9}{:>9}"


def run(command: list[str], report: Path) -> tuple[int, int, int]:
    """Run a part; how many of it passed, failed and were skipped."""
    if "pytest" in command:
        command = [*command, f"--junitxml={report}"]
    # Two workers with a thread for each core each would wait for one another.
    threads = {} if command[-2:-1] == ["docs"] else {"OMP_NUM_THREADS": "1"}
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
    with tempfile.TemporaryDirectory() as folder:
        for part in parts or PARTS:
            print(f"\n=== {part}", flush=True)
            started = time.monotonic()
            counts = run(PARTS[part], Path(folder, f"{part}.xml"))
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
