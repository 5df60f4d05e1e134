"""What the weekly workflow says of what failed."""

import os
import subprocess

import pytest
import yaml

from tests.helpers import ROOT

LOG = """docs/en/training/a.md::a.py PASSED
FAILED docs/en/training/b.md::b.py - snippets/training/b.py:4: exited: KeyError
1 failed, 9 passed
"""
# It answers as gh does with --jq, and notes what it was asked.
GH = """#!/bin/sh
case "$2" in list) echo "$OPEN" ;; *) printf '%s\\n' "$@" > said ;; esac
"""


def script() -> str:
    text = (ROOT / ".github/workflows/weekly.yml").read_text("utf-8")
    workflow = yaml.safe_load(text)
    return workflow["jobs"]["report"]["steps"][-1]["run"]


@pytest.mark.parametrize(
    ("open_issue", "call"), [("", "create --title Red"), ("7", "comment 7")]
)
def test_an_issue_names_run_block_and_cause(tmp_path, open_issue, call):
    for name in ("compat-2.4.1/compat.txt", "soak-newest/soak.txt", "bin/gh"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(GH if name == "bin/gh" else "1 passed\n", "utf-8")
    (tmp_path / "compat-2.4.1/compat.txt").write_text(LOG, "utf-8")
    (tmp_path / "bin/gh").chmod(0o755)
    more = {"TITLE": "Red", "RUN": "https://example.org/1", "OPEN": open_issue}
    more["PATH"] = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    command = ["bash", "-e", "-c", script()]  # as the runner does
    subprocess.run(command, cwd=tmp_path, env=os.environ | more, check=True)
    said = (tmp_path / "said").read_text("utf-8")
    assert " ".join(said.split("\n")).startswith(f"issue {call} --body ")
    assert "https://example.org/1\n" in said
    failed = LOG.splitlines()[1]
    assert f"\n```\ncompat-2.4.1:{failed}\n```\n" in said
