"""err-child-failed: what torchrun reports of a rank that fails, by its exit code."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT, assert_documented, run_python

PAGE = "errors/err-child-failed"
SNIPPET = ROOT / "snippets/errors/err_child_failed.py"


def report(script: Path) -> str:
    """What torchrun says of two processes of it."""
    torchrun = [sys.executable, "-m", "torch.distributed.run"]
    command = [*torchrun, "--standalone", "--nproc-per-node=2", script.name]
    folder = script.parent
    result = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    return result.stderr


def test_with_record_the_report_has_the_error():
    said = report(SNIPPET)
    (message,) = re.findall(r"^torch\.distributed\S+ChildFailedError:", said, re.M)
    assert_documented(PAGE, "torch.distributed.elastic", message)
    root = said.partition("Root Cause (first observed failure)")[2]
    assert re.search(r"rank +: 1 ", root)
    assert "ValueError: labels must be below 10, got 12" in root


def test_without_it_the_report_says_nothing(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SNIPPET.read_text("utf-8").replace("@record", "#"))
    said = report(script)
    before, _, root = said.partition("Root Cause (first observed failure)")
    assert "error_file: <N/A>" in root
    assert "ValueError" not in root
    assert "ValueError: labels must be" in before


@pytest.mark.parametrize(
    ("name", "code"),
    [("SIGKILL", -9), ("SIGBUS", -7), ("SIGABRT", -6), ("SIGSEGV", -11)],
)
def test_exit_codes_of_signals(name, code):
    assert code == -getattr(signal, name)


def test_alone_it_ends_well(tmp_path):
    assert run_python(str(SNIPPET), folder=tmp_path).stdout == "rank 0 is done\n"
