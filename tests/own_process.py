"""Tests with the fixture `own_process` run in a Python of their own, one for a file.

A process group leaves gloo's threads in a process, and a later fork of it may hang.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

REPORTS = "OWN_PROCESS_REPORTS"  # in that Python: the file that it writes
SECONDS = 300
ROOT = Path(__file__).parents[1]
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
    with tempfile.TemporaryDirectory() as folder:
        file, log = Path(folder, "reports"), Path(folder, "log")
        environment = {**os.environ, REPORTS: str(file)}
        environment.pop("PYTEST_XDIST_WORKER", None)
        job = [[*options, *nodes], str(config.rootpath), environment, str(log)]
        server = template()
        print(json.dumps(job), file=server.stdin, flush=True)
        code = server.stdout.readline().strip()
        ended = f"its own Python ended with {code}\n{log.read_text('utf-8')}"
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
    reports = {None: ended}
    for data in map(json.loads, lines):
        if isinstance(data["longrepr"], list):  # where a test skips: JSON has no tuple
            data["longrepr"] = tuple(data["longrepr"])
        reports.setdefault(data["nodeid"], []).append(data)
    return reports


@cache
def template() -> subprocess.Popen:
    """A Python that has torch loaded, and ends with this one; jobs are forks of it."""
    command = [sys.executable, "-m", "tests.own_process"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)


def close() -> None:
    """End the template, where there is one."""
    if template.cache_info().currsize:
        with template():
            template().stdin.close()


def serve() -> None:
    """Run pytest in a fork for each line of stdin; print how it ended."""
    import torch._dynamo  # what most of these tests load
    import torch.distributed.tensor  # noqa: F401

    for line in sys.stdin:
        options, folder, environment, log = json.loads(line)
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            output = os.open(log, os.O_WRONLY | os.O_CREAT)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            code = pytest.main(options)
            sys.stdout.flush()
            os._exit(code)
        signal.signal(signal.SIGALRM, lambda *_, group=child: end(group))
        signal.alarm(SECONDS)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        signal.alarm(0)
        end(child)  # what it has left
        print(code, flush=True)


def end(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def note(config: pytest.Config, report: pytest.TestReport) -> None:
    """Write a report where the outer pytest reads it."""
    data = config.hook.pytest_report_to_serializable(config=config, report=report)
    with Path(os.environ[REPORTS]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(data) + "\n")


if __name__ == "__main__":
    serve()
