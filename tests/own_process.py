"""Tests with the fixture `own_process` run in a Python of their own, one for a file.

A process group leaves gloo's threads in a process, and a later fork of it may hang.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

REPORTS = "OWN_PROCESS_REPORTS"  # in that Python: the file that it writes
SECONDS = 300
ran = pytest.StashKey[dict]()  # per file: the reports of each test


def inside() -> bool:
    """Whether this is the Python of such tests."""
    return REPORTS in os.environ


def apart(item: pytest.Item) -> bool:
    return "own_process" in getattr(item, "fixturenames", ())


def run_apart(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Report the test as its own Python did, which runs all such tests of the file."""
    files = item.session.stash.setdefault(ran, {})
    if item.path not in files:
        files[item.path] = run_file(item)
    reports = files[item.path].get(item.nodeid, [])
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for data in reports:
        report = item.config.hook.pytest_report_from_serializable(
            config=item.config, data=data
        )
        item.ihook.pytest_runtest_logreport(report=report)
    if not any(data["when"] == "teardown" for data in reports):
        failed = pytest.TestReport(
            item.nodeid, item.location, {}, "failed", files[item.path][None], "call"
        )
        item.ihook.pytest_runtest_logreport(report=failed)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    item.session._setupstate.teardown_exact(nextitem)  # a module that is left, too


def run_file(item: pytest.Item) -> dict:
    """The reports by test; under None how the Python ended."""
    config = item.config
    items = [i for i in item.session.items if i.path == item.path and apart(i)]
    options = [f"-p{p}" for p in config.option.plugins if p != "no:terminal"]
    options += [f"-o{setting}" for setting in config.option.override_ini or ()]
    nodes = [str(config.rootpath / i.nodeid) for i in items]
    command = [sys.executable, "-m", "pytest", *options, *nodes]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "reports")
        environment = {**os.environ, REPORTS: str(file)}
        environment.pop("PYTEST_XDIST_WORKER", None)
        try:
            done = subprocess.run(
                command,
                cwd=config.rootpath,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=SECONDS,
            )
            ended = f"its own Python ended with {done.returncode}\n{done.stdout}"
        except subprocess.TimeoutExpired as error:
            said = (error.stdout or b"").decode(errors="replace")
            ended = f"its own Python took more than {SECONDS} s\n{said}"
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
    reports = {None: ended}
    for data in map(json.loads, lines):
        reports.setdefault(data["nodeid"], []).append(data)
    return reports


def note(config: pytest.Config, report: pytest.TestReport) -> None:
    """Write a report where the outer pytest reads it."""
    data = config.hook.pytest_report_to_serializable(config=config, report=report)
    with Path(os.environ[REPORTS]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(data) + "\n")
