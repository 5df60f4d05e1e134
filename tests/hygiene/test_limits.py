"""A test that hangs is ended; its stacks are shown, and the run goes on."""

import os
import re
import signal
import subprocess
import sys

from tests.helpers import ROOT, time_limit

CONFTEST = """
from tests import limits
from tests.conftest import *

limits.SECONDS, limits.GRACE = 4, 2
"""
WAITS = """
import multiprocessing, subprocess, sys, time
import pytest

CHILD = "import time\\ndef child_sleeps():\\n    time.sleep(987)\\nchild_sleeps()"


def worker_sleeps():
    time.sleep(987)


def test_python():
    time.sleep(987)


def test_child():
    subprocess.run([sys.executable, "-c", CHILD], capture_output=True)


def test_worker():
    worker = multiprocessing.Process(target=worker_sleeps)
    worker.start()
    worker.join()


@pytest.fixture
def late():
    yield
    time.sleep(987)


def test_teardown(late):
    pass
"""
# A lock is taken twice; PyDLL keeps the GIL, so that no line of Python can run.
STUCK = """
import ctypes


def test_stuck_in_c():
    lock = ctypes.create_string_buffer(64)
    for _ in range(2):
        ctypes.PyDLL(None).pthread_mutex_lock(lock)


"""
AFTER = "def test_after():\n    pass\n"


def run(folder, text: str, *options: str) -> subprocess.CompletedProcess:
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    plugins = ("-p", "no:cacheprovider", "-p", "no:codeblocks")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *options, "-rA", "test_it.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def results(printed: str) -> set[tuple[str, str]]:
    """The outcome and the name of each test in the summary."""
    return set(re.findall(r"^(PASSED|FAILED|ERROR) test_it\.py::(\w+)", printed, re.M))


def test_what_hangs_in_python_fails_with_the_stacks_of_all_its_processes(tmp_path):
    done = run(tmp_path, WAITS + AFTER, "-n", "2", "--dist", "worksteal")
    printed = done.stdout + done.stderr
    assert results(printed) == {
        ("FAILED", "test_python"),
        ("FAILED", "test_child"),
        ("FAILED", "test_worker"),
        ("PASSED", "test_teardown"),
        ("ERROR", "test_teardown"),
        ("PASSED", "test_after"),
    }, printed
    assert "Failed: test_it.py::test_python is not done after 4 s" in printed
    for function in ("test_python", "child_sleeps", "worker_sleeps", "late"):
        assert re.search(rf"File .*, line \d+ in {function}\n", printed), printed


def test_without_workers_the_run_goes_on_too(tmp_path):
    text = "import time\n\ndef test_python():\n    time.sleep(987)\n\n\n" + AFTER
    done = run(tmp_path, text)
    expected = {("FAILED", "test_python"), ("PASSED", "test_after")}
    assert results(done.stdout) == expected, done


def test_what_hangs_in_c_ends_a_worker_and_the_run_goes_on(tmp_path):
    done = run(tmp_path, STUCK + AFTER, "-n", "1", "--dist", "worksteal")
    printed = done.stdout + done.stderr
    expected = {("FAILED", "test_stuck_in_c"), ("PASSED", "test_after")}
    assert results(printed) == expected, printed
    assert re.search(r"File .*, line \d+ in test_stuck_in_c\n", printed), printed
    assert "crashed while running 'test_it.py::test_stuck_in_c'" in printed


def test_what_hangs_in_c_ends_a_run_without_workers(tmp_path):
    done = run(tmp_path, STUCK + AFTER)
    assert done.returncode == 1
    assert re.search(r"File .*, line \d+ in test_stuck_in_c\n", done.stderr), done


def test_a_shorter_limit_within_a_test_does_not_end_the_test_s_own():
    with time_limit(60):
        pass
    assert signal.getitimer(signal.ITIMER_REAL)[0] > 60
