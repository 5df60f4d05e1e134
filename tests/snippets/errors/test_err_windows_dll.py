"""err-windows-dll: libraries that are there or missing; torch's own source."""

import ctypes
import platform
import sys
from pathlib import Path

import pytest
import torch

from tests.helpers import ROOT, load_snippet, quoted

PAGE = "errors/err-windows-dll"
SNIPPET = "errors/err_windows_dll.py"
NAMES = ["vcruntime140.dll", "vcruntime140_1.dll", "msvcp140.dll"]


@pytest.fixture
def lines(monkeypatch, capsys):
    """Run the snippet as on Windows, where these libraries load."""

    def run(there):
        def load(name):
            if name not in there:
                raise OSError(f"Could not find module '{name}'")

        with monkeypatch.context() as patch:
            patch.setattr(ctypes, "CDLL", load)
            patch.setattr(platform, "system", lambda: "Windows")
            patch.setattr(platform, "architecture", lambda: ("32bit", "WindowsPE"))
            load_snippet(SNIPPET)
        return capsys.readouterr().out.splitlines()

    return run


def test_the_number_that_pycharm_shows_is_that_of_an_access_violation():
    assert quoted(PAGE, f"Process finished with exit code {0xC0000005 - 2**32} (0xC0")


def test_all_there(lines):
    assert lines(NAMES) == ["Windows Python of 32bit"]


@pytest.mark.parametrize("missing", NAMES)
def test_the_missing_one_is_named(lines, missing):
    printed = lines([name for name in NAMES if name != missing])
    assert printed[1:] == [f"missing: Could not find module '{missing}'"]


@pytest.mark.skipif(sys.platform == "win32", reason="there they are")
def test_elsewhere_all_three_are_missing(capsys):
    load_snippet(SNIPPET)
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[:2] for line in printed[1:4]] == [
        ["missing", f" {name}"] for name in NAMES
    ]


def test_torch_tries_the_same_libraries_and_names_the_same_download():
    source = Path(torch.__file__).read_text(encoding="utf-8")
    for name in NAMES:
        assert f'ctypes.CDLL("{name}")' in source
    page = (ROOT / f"docs/en/{PAGE}.md").read_text(encoding="utf-8")
    address = "https://aka.ms/vs/17/release/vc_redist.x64.exe"
    assert address in source
    assert address in page
    warning = "Microsoft Visual C++ Redistributable is not installed, this may lead"
    assert warning in source
    assert "Error loading" in source
