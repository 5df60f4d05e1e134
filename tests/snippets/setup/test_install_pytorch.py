"""install-pytorch: what it prints, and what a Python without torch says."""

import re
import subprocess
import sys
import tomllib

import pytest
import torch

from tests.helpers import ROOT, assert_documented, load_snippet

SNIPPET, PAGE = "setup/install_pytorch.py", "setup/install-pytorch"


def printed(capsys):
    load_snippet(SNIPPET)
    return capsys.readouterr().out.splitlines()


def test_it_names_the_interpreter_the_build_and_the_device(monkeypatch, capsys):
    monkeypatch.setattr(torch, "__version__", "9.8.7+cpu")
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.delattr(torch, "accelerator", raising=False)  # torch 2.2 has none
    assert printed(capsys) == [
        f"Python {sys.executable}",
        "torch 9.8.7+cpu with CUDA None",
        "computes on cpu",
    ]


@pytest.mark.parametrize(
    ("module", "device"), [(torch.cuda, "cuda"), (torch.backends.mps, "mps")]
)
def test_an_accelerator_is_computed_on(monkeypatch, capsys, module, device):
    """The CPU computes in its place, and the device that was asked for is noted."""
    asked, ones = [], torch.ones
    for other in (torch.cuda, torch.backends.mps):
        monkeypatch.setattr(other, "is_available", lambda other=other: other is module)
    monkeypatch.setattr(
        torch, "ones", lambda *size, device: asked.append(device) or ones(*size)
    )
    assert printed(capsys)[-1] == f"computes on {device}"
    assert asked == [device]


def test_wrong_numbers_are_noticed(monkeypatch):
    monkeypatch.setattr(torch, "ones", torch.zeros)
    with pytest.raises(AssertionError):
        load_snippet(SNIPPET)


def test_a_python_without_torch():
    bare = [sys.executable, "-I", "-S", "-c", "import torch"]  # no site-packages
    child = subprocess.run(bare, capture_output=True, text=True)
    last = child.stderr.strip().splitlines()[-1]
    assert_documented(PAGE, "ModuleNotFoundError: No module named 'torch'", last)


@pytest.mark.skipif(sys.platform != "linux", reason="what the loader of Linux says")
def test_a_library_of_torch_is_found_once_torch_is_imported():
    load = "import ctypes; ctypes.CDLL('libtorch_cpu.so')"
    for code, found in ((load, False), (f"import torch; {load}", True)):
        command = [sys.executable, "-c", code]
        child = subprocess.run(command, capture_output=True, text=True)
        assert (child.returncode == 0) == found, child.stderr
        if not found:
            last = child.stderr.strip().splitlines()[-1]
            assert_documented(PAGE, "OSError: libtorch_cpu.so", last)


def test_pip_keeps_an_installed_torch():
    command = [sys.executable, "-m", "pip", "install", "torch", "--no-index"]
    done = subprocess.run([*command, "--no-deps"], capture_output=True, text=True)
    assert "Requirement already satisfied: torch in" in done.stdout
    for lang in ("en", "zh"):
        page = (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8")
        assert "`Requirement already satisfied`" in page


def test_the_index_that_uv_reads_has_the_name_that_the_sources_use():
    for lang in ("en", "zh"):
        page = (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8")
        lines = re.findall(r"`((?:name|torch|torchvision) = [^`]*)`", page)
        name, *sources = (tomllib.loads(line) for line in lines)
        index = {"index": name["name"]}
        assert sources == [{"torch": index}, {"torchvision": index}]
