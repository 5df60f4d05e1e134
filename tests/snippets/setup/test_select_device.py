"""select-device: simulated machines, and this one with its GPUs hidden."""

import os
import subprocess
import sys

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, documented_errors, load_snippet, raises_as_documented

SNIPPET, PAGE = "setup/select_device.py", "setup/select-device"
select_device = load_snippet(SNIPPET).select_device


@pytest.fixture
def machine(monkeypatch):
    """Pretend that torch was built for a type, and that some devices are there."""

    def pretend(built_for: str | None, count: int) -> None:
        def current_accelerator(check_available=False):
            if built_for is None or (check_available and count == 0):
                return None
            return torch.device(built_for)

        monkeypatch.setattr(
            torch.accelerator, "current_accelerator", current_accelerator
        )
        monkeypatch.setattr(torch.accelerator, "device_count", lambda: count)

    return pretend


@pytest.mark.parametrize(
    ("built_for", "count", "best"),
    [
        ("cuda", 2, "cuda"),
        ("cuda", 0, "cpu"),  # no driver, or no GPU
        (None, 0, "cpu"),  # a build for CPUs
        ("mps", 1, "mps"),
        ("xpu", 1, "xpu"),
    ],
)
def test_auto_takes_the_accelerator_that_is_there(machine, built_for, count, best):
    machine(built_for, count)
    assert select_device() == select_device("auto") == torch.device(best)
    assert select_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "cuda:1"])
def test_a_device_by_name_is_that_device(machine, name):
    machine("cuda", 2)
    assert select_device(name) == torch.device(name)


NOT_THERE = [
    "cuda:2",
    "cuda:256",
    "cuda:-1",
    "cuda:",
    "cuda:cpu",
    "cuda:0,1",
    "mps",
    "",
]


@pytest.mark.parametrize("name", NOT_THERE)
def test_what_is_not_there_is_refused_with_the_choice(machine, name):
    machine("cuda", 2)
    with pytest.raises(ValueError, match=r"from: cuda, cuda:0, cuda:1, cpu$") as caught:
        select_device(name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("built_for", ["cuda", None])
def test_a_named_device_is_never_replaced_by_the_cpu(machine, built_for):
    machine(built_for, 0)
    with pytest.raises(ValueError, match=r"from: cpu$"):
        select_device("cuda")


ASK = """
import runpy, sys, torch
select_device = runpy.run_path(sys.argv[1])["select_device"]
print(torch.ones(2, device=select_device()).device)
print(torch.accelerator.current_accelerator())
try:
    torch.zeros(1, device="cuda")
except Exception as error:
    print(f"{type(error).__name__}: {error}")
"""


def test_with_every_gpu_hidden_the_choice_works_and_cuda_says_why_not():
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-W", "error", "-c", ASK, ROOT / "snippets" / SNIPPET]
    said = subprocess.check_output(command, text=True, env=hidden)
    device, built_for, error = said.strip().split("\n")
    assert device == "cpu"
    assert built_for == "cuda"  # the pitfall: the build, not the machine
    assert error.startswith(tuple(documented_errors(PAGE)))


def test_the_documented_errors_are_raised(monkeypatch):
    for name in ("cuda:cpu", "cuda:0,1"):
        with pytest.raises(RuntimeError, match="Invalid device string"):
            torch.device(name)
    with raises_as_documented(PAGE):
        torch.device("cuda:")
    # What a build for CPUs lacks.
    monkeypatch.setattr(torch.cuda, "_initialized", False)
    monkeypatch.delattr(torch._C, "_cuda_getDeviceCount")
    with raises_as_documented(PAGE):
        torch.zeros(1, device="cuda")


@pytest.mark.skipif(torch.backends.mps.is_built(), reason="a build for macOS")
def test_a_build_without_mps():
    for value in (torch.ones(1), nn.Linear(1, 1)):
        with raises_as_documented(PAGE):
            value.to("mps")
    assert select_device("auto").type != "mps"


@pytest.mark.skipif(torch.xpu._is_compiled(), reason="a build for Intel GPUs")
def test_a_build_without_xpu():
    with raises_as_documented(PAGE):
        torch.ones(1, device="xpu")


def test_what_the_page_says_of_devices():
    assert torch.device("cuda") != torch.device("cuda:0")
    assert torch.device("cuda:3").index == 3  # unchecked
    assert torch.device("cuda", 1) == torch.device("cuda:1")

    module, x = nn.Linear(2, 2), torch.ones(2)
    module.plain = torch.ones(2)
    module.register_buffer("registered", torch.ones(2))
    assert module.to("meta") is module
    assert module.weight.is_meta
    assert module.registered.is_meta
    assert not module.plain.is_meta
    assert x.to("meta").is_meta
    assert not x.is_meta
    with torch.device("meta"):
        assert torch.zeros(1).is_meta
        assert nn.Linear(1, 1).weight.is_meta
