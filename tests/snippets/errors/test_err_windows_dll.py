"""err-windows-dll: libraries that are there, missing or doubled; torch's own source."""

import ctypes
import platform
import sys
from pathlib import Path

import pytest
import torch

from tests.helpers import ROOT, load_snippet

PAGE = "errors/err-windows-dll"
SNIPPET = "errors/err_windows_dll.py"
NAMES = ["vcruntime140.dll", "vcruntime140_1.dll", "msvcp140.dll"]


@pytest.fixture
def lines(monkeypatch, tmp_path, capsys):
    """Run the snippet as on Windows, where these libraries load."""

    def run(there, copies=()):
        def load(name):
            if name not in there:
                raise OSError(f"Could not find module '{name}'")

        for copy in copies:
            (tmp_path / copy).parent.mkdir(parents=True)
            (tmp_path / copy).touch()
        with monkeypatch.context() as patch:
            patch.setattr(ctypes, "CDLL", load)
            patch.setattr(platform, "system", lambda: "Windows")
            patch.setattr(platform, "architecture", lambda: ("32bit", "WindowsPE"))
            patch.setattr(sys, "prefix", str(tmp_path))
            load_snippet(SNIPPET)
        return capsys.readouterr().out.splitlines()

    return run


def test_all_there(lines):
    assert lines(NAMES) == ["Windows Python of 32bit", "copies of OpenMP:", "0"]


@pytest.mark.parametrize("missing", NAMES)
def test_the_missing_one_is_named(lines, missing):
    printed = lines([name for name in NAMES if name != missing])
    assert printed[1:2] == [f"missing: Could not find module '{missing}'"]
    assert len(printed) == 4


def test_two_copies_are_listed(lines, tmp_path):
    copies = [
        "Library/bin/libiomp5md.dll",
        "Lib/site-packages/torch/lib/libiomp5md.dll",
    ]
    printed = lines(NAMES, copies)
    assert printed[2] == "2"
    assert sorted(printed[3:]) == sorted(str(tmp_path / copy) for copy in copies)


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
