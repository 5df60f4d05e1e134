"""select-device: simulated machines, and this one with its GPUs hidden."""

import os
import subprocess
import sys
from argparse import Namespace

import pytest
import torch
from torch import nn

from tests.helpers import (
    ROOT,
    TORCH_CPU,
    lacking,
    load_snippet,
    quoted,
    quotes,
    raises_as_documented,
    recipes,
)

ANSWER = recipes()["select-device"].answer
SNIPPET, PAGE = "setup/select_device.py", "setup/select-device"


@pytest.fixture
def machine(monkeypatch, capsys):
    """Run the snippet on a machine; its accelerator is a meta device."""

    def run(built: bool, there: bool) -> str:
        def current_accelerator(check_available=False):
            is_found = built and (there or not check_available)
            return torch.device("meta") if is_found else None

        name = "current_accelerator"
        monkeypatch.setattr(torch.accelerator, name, current_accelerator)
        snippet = load_snippet(SNIPPET)
        assert (
            snippet.x.device
            == snippet.y.device
            == snippet.mask.device
            == snippet.model.weight.device
            == snippet.device
        )
        assert snippet.x.shape == (3, 4)
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    ("built", "there", "device"),
    [
        (True, True, "meta"),
        (True, False, "cpu"),  # no driver, or no GPU
        (False, False, "cpu"),  # a CPU-only build
    ],
)
def test_the_accelerator_is_taken_where_there_is_one(machine, built, there, device):
    assert machine(built, there) == f"running on {device}\n"


ASK = """
import runpy, sys, torch
print(runpy.run_path(sys.argv[1])["device"])
print(torch.accelerator.current_accelerator())
try:
    torch.zeros(1, device="cuda")
except Exception as error:
    print(f"{type(error).__name__}: {error}")
"""


@pytest.mark.skipif(not torch.backends.cuda.is_built(), reason="not a CUDA build")
def test_with_every_gpu_hidden_the_choice_works_and_cuda_says_why_not():
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-W", "error", "-c", ASK, ROOT / "snippets" / SNIPPET]
    said = subprocess.check_output(command, text=True, env=hidden)
    running, device, built_for, error = said.strip().split("\n")
    assert (running, device) == ("running on cpu", "cpu")
    assert built_for == "cuda"  # without the check: the build, not the machine
    assert error.startswith(tuple(quotes(PAGE)))  # there is a driver, or none


def test_the_documented_errors_are_raised(monkeypatch):
    for name in ("cuda:cpu", "cuda:0,1"):
        with pytest.raises(RuntimeError, match="Invalid device string"):
            torch.device(name)
    with raises_as_documented(PAGE, "RuntimeError: Invalid device string:"):
        torch.device("cuda:")
    with raises_as_documented(PAGE, "RuntimeError: Expected one of"):
        torch.device("npu")
    for name in ("gpu", "CUDA"):
        with pytest.raises(RuntimeError, match=f"start of device string: {name}"):
            torch.device(name)
    # What a build for CPUs lacks.
    monkeypatch.setattr(torch.cuda, "_initialized", False)
    monkeypatch.delattr(torch._C, "_cuda_getDeviceCount")
    with raises_as_documented(PAGE, "AssertionError: Torch not compiled with CUDA"):
        torch.zeros(1, device="cuda")


@pytest.mark.skipif(torch.backends.mps.is_built(), reason="a build for macOS")
def test_a_torch_without_this_module(monkeypatch):
    monkeypatch.delattr(torch, "accelerator")
    with raises_as_documented(PAGE, "AttributeError: module 'torch' has no"):
        exec(ANSWER.text, {})


def test_the_answer_moves_what_a_reader_has(monkeypatch):
    name, meta = "current_accelerator", torch.device("meta")
    monkeypatch.setattr(torch.accelerator, name, lambda check_available: meta)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)).bfloat16()
    x = torch.ones(2, 3, 5, 5, dtype=torch.bfloat16)
    names = {"model": model, "x": x, "y": torch.tensor([0, 1])}
    assert set(ANSWER.yours) == set(names)
    exec(ANSWER.text, names)
    assert names["model"](names["x"]).is_meta
    assert names["x"].dtype == torch.bfloat16
    assert names["y"].is_meta
    assert names["y"].dtype == torch.int64


def test_a_build_without_mps():
    for value in (torch.ones(1), nn.Linear(1, 1)):
        with raises_as_documented(PAGE, "RuntimeError: PyTorch is not"):
            value.to("mps")


@pytest.mark.skipif(torch.xpu._is_compiled(), reason="a build for Intel GPUs")
def test_a_build_without_xpu():
    with raises_as_documented(PAGE, "AssertionError: Torch not compiled with XPU"):
        torch.ones(1, device="xpu")


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux libraries")
def test_the_binaries_hold_the_messages_of_two_devices():
    """They need a GPU, or at least two kinds of device that compute."""
    listed = "\n".join(quotes(PAGE))
    head = "Expected all tensors to be on the same device, but "
    texts = (
        f"{head}found at least two devices, ",
        f"{head}got ",
        ", different from other tensors on ",
    )
    assert not lacking(TORCH_CPU, *texts)
    assert all(text in listed for text in texts)


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_what_cuda_calls_a_wrong_number():
    cudart = torch._C._cudart
    text = cudart.cudaGetErrorString(cudart.cudaError(101))
    assert quoted(PAGE, f"AcceleratorError: CUDA error: {text}")


def test_what_the_page_says_of_devices():
    assert torch.device("cuda") != torch.device("cuda:0")
    assert torch.device("cuda").type == torch.device("cuda:0").type
    assert torch.device("cuda:3").index == 3  # unchecked
    assert torch.device("cuda", 1) == torch.device("cuda:1")


@pytest.mark.parametrize(
    ("given", "gpu", "chosen"),
    [
        ("cuda:1", None, "cuda:1"),
        ("cpu", "mps", "cpu"),
        (None, "mps", "mps"),
        ("", None, "cpu"),
    ],
)
def test_the_option_wins_and_the_cpu_comes_last(given, gpu, chosen):
    args, gpu = Namespace(device=given), gpu and torch.device(gpu)
    assert torch.device(args.device or gpu or "cpu") == torch.device(chosen)
    for lang in ("en", "zh"):
        page = (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8")
        assert 'torch.device(args.device or gpu or "cpu")' in page
