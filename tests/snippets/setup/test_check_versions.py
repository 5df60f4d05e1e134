"""check-versions: the package metadata, simulated GPUs, another process."""

import importlib.metadata
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from tests.helpers import ROOT, documented_errors, load_snippet, raises_as_documented

SNIPPET, PAGE = "setup/check_versions.py", "setup/check-versions"
versions = load_snippet(SNIPPET).versions


@pytest.fixture
def gpus(monkeypatch):
    """Pretend that there are GPUs of these names and bytes."""

    def pretend(*cards: tuple[str, int]) -> None:
        def properties(index):
            name, memory = cards[index]
            return SimpleNamespace(name=name, total_memory=memory)

        monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(cards))
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(cards))
        monkeypatch.setattr(torch.cuda, "get_device_properties", properties)

    return pretend


def test_the_release_is_the_installed_one(gpus):
    gpus()
    report = versions()
    assert list(report) == ["torch", "CUDA", "ROCm", "cuDNN"]
    installed = importlib.metadata.version("torch")
    assert report["torch"].split("+")[0] == installed.split("+")[0]
    built_for = {name for name in ("CUDA", "ROCm") if report[name]}
    assert bool(built_for) == torch.backends.cuda.is_built()
    if "CUDA" in built_for:  # as the C++ side has it
        assert f"CUDA_VERSION={report['CUDA']}," in torch.__config__.show()


def test_every_field_is_read_where_it_stands(gpus, monkeypatch):
    gpus()
    monkeypatch.setattr(torch, "__version__", "9.8+rocm7")
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", "7.0")
    monkeypatch.setattr(torch.backends.cudnn.m, "version", lambda: 12345)
    assert versions() == {
        "torch": "9.8+rocm7",
        "CUDA": None,
        "ROCm": "7.0",
        "cuDNN": 12345,
    }


def test_a_gpu_under_too_old_a_driver_is_not_asked(monkeypatch):
    """NVML counts it without CUDA; whatever starts CUDA raises."""
    monkeypatch.setattr(torch.cuda, "_raw_device_count_nvml", lambda: 1)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "cuda:0" not in versions()


def test_gpus_are_listed_with_their_memory(gpus):
    gpus(("Card A", 80 * 2**30), ("Card B", 25_769_803_776 - 2**29))
    report = versions()
    assert report["cuda:0"] == "Card A, 80.0 GiB"
    assert report["cuda:1"] == "Card B, 23.5 GiB"
    assert len(report) == 6


def test_92600_means_9_26_0():
    number = torch.backends.cudnn.version()
    if number is None:
        pytest.skip("a build without cuDNN")
    parts = number // 10000, number // 100 % 100, number % 100
    assert parts == torch._C._cudnn.getRuntimeVersion()


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
    quoted = tuple(documented_errors(PAGE))
    assert torchvision.startswith(quoted)
    if gpu != "RuntimeError: No CUDA GPUs are available":  # there is a driver
        assert gpu.startswith(quoted)
    # What a build for CPUs lacks.
    monkeypatch.setattr(torch.cuda, "_initialized", False)
    monkeypatch.delattr(torch._C, "_cuda_getDeviceCount")
    with raises_as_documented(PAGE):
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
