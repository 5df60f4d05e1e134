"""check-versions: the package metadata, simulated GPUs, another process."""

import importlib.metadata
import os
import re
import subprocess
import sys

import pytest
import torch

from tests.helpers import ROOT, assert_documented, load_snippet, raises_as_documented

SNIPPET, PAGE = "setup/check_versions.py", "setup/check-versions"


@pytest.fixture
def printed(monkeypatch, capsys):
    """What the snippet prints, by its first word, on a machine with these GPUs."""

    def run(*names: str) -> dict[str, str]:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(names))
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(names))
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda i: names[i])
        load_snippet(SNIPPET)
        lines = capsys.readouterr().out.splitlines()
        return dict(line.split(" ", 1) for line in lines)

    return run


def test_the_release_is_the_installed_one(printed):
    report = printed()
    assert list(report) == ["torch", "CUDA", "cuDNN", "GPUs"]
    installed = importlib.metadata.version("torch")
    assert report["torch"].split("+")[0] == installed.split("+")[0]
    if torch.version.cuda:  # as the C++ side has it
        assert f"CUDA_VERSION={report['CUDA']}," in torch.__config__.show()
    assert report["GPUs"] == "[]"


def test_every_line_names_what_it_shows(printed, monkeypatch):
    monkeypatch.setattr(torch, "__version__", "9.8+rocm7")
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.backends.cudnn.m, "version", lambda: 12345)
    assert printed("Card A", "Card B") == {
        "torch": "9.8+rocm7",
        "CUDA": "None",
        "cuDNN": "12345",
        "GPUs": "['Card A', 'Card B']",
    }


def test_a_gpu_under_too_old_a_driver_is_not_asked(monkeypatch, capsys):
    """NVML counts it without CUDA; asking for its name would raise."""
    monkeypatch.setattr(torch.cuda, "_raw_device_count_nvml", lambda: 1)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    load_snippet(SNIPPET)
    assert capsys.readouterr().out.endswith("GPUs []\n")


def test_92600_means_9_26_0():
    number = torch.backends.cudnn.version()
    if number is None:
        pytest.skip("a build without cuDNN")
    parts = number // 10000, number // 100 % 100, number % 100
    assert parts == torch._C._cudnn.getRuntimeVersion()
    assert (92600 // 10000, 92600 // 100 % 100, 92600 % 100) == (9, 26, 0)


def test_a_version_compares_as_one_but_its_string_does_not():
    assert torch.__version__ > "2.9"
    assert not str(torch.__version__) > "2.9"


FAILS = """
import torch

def torchvision():  # registers this on import; its library was not loaded
    torch.library.register_fake("torchvision::nms")(print)

for call in (lambda: torch.cuda.get_device_name(0), torchvision):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""


def test_the_documented_errors_are_raised(monkeypatch):
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-c", FAILS]
    said = subprocess.check_output(command, text=True, env=hidden)
    gpu, torchvision = said.splitlines()
    assert_documented(PAGE, "RuntimeError: operator torchvision::nms", torchvision)
    if gpu != "RuntimeError: No CUDA GPUs are available":  # there is no driver
        assert_documented(PAGE, "RuntimeError: Found no NVIDIA driver", gpu)
    # What a build for CPUs lacks.
    monkeypatch.setattr(torch.cuda, "_initialized", False)
    monkeypatch.delattr(torch._C, "_cuda_getDeviceCount")
    with raises_as_documented(PAGE, "AssertionError: Torch not compiled"):
        torch.cuda.get_device_name(0)


def test_the_report_command_names_what_the_page_says():
    english, chinese = (
        re.findall(
            r"^```bash\n(.*?)\n```",
            (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8"),
            re.DOTALL | re.MULTILINE,
        )
        for lang in ("en", "zh")
    )
    assert english == chinese
    source = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
    assert english[0].replace(" -W ignore", "") in source
    command = english[0].split()
    assert command[0] == "python"
    report = subprocess.check_output(
        [sys.executable, *command[1:]],
        text=True,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    assert f"PyTorch version: {torch.__version__}\n" in report
    for line in ("CUDA used to build PyTorch", "CUDA runtime version", "CPU:"):
        assert f"\n{line}" in report
    assert "Warning" not in report
