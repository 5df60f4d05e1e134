"""What runs in a Python of its own: the outer pytest says of it what happened."""

from tests.helpers import ROOT, run_python

TESTS = """
import os

import pytest

def test_here():
    assert "OWN_PROCESS_REPORTS" not in os.environ

def test_apart(own_process):
    assert "OWN_PROCESS_REPORTS" in os.environ

def test_fails(own_process):
    assert len("two") == 2

def test_skips(own_process):
    pytest.skip("no GPU")

def test_dies(own_process):
    os.abort()
"""


def test_what_fails_and_what_dies_fails(tmp_path):
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    options = ["-m", "pytest", "-p", "no:cacheprovider", "-rA", "--junitxml=it.xml"]
    run = run_python(*options, folder=tmp_path, PYTHONPATH=str(ROOT))
    assert run.returncode == 1, run.stdout
    for line in (
        "PASSED test_it.py::test_here",
        "PASSED test_it.py::test_apart",
        "FAILED test_it.py::test_fails - AssertionError: assert 3 == 2",
        ": no GPU\n",
        "FAILED test_it.py::test_dies - its own Python ended with -6",
        "2 failed, 2 passed, 1 skipped",
    ):
        assert line in run.stdout
