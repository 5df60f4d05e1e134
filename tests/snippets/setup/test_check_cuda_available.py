"""check-cuda-available: simulated machines, and this one with its GPUs hidden."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.helpers import ROOT, documented_errors, load_snippet, raises_as_documented

SNIPPET, PAGE = "setup/check_cuda_available.py", "setup/check-cuda-available"
why_no_cuda = load_snippet(SNIPPET).why_no_cuda
NO_KERNEL = "CUDA error: no kernel image is available for execution on the device"


@pytest.fixture
def machine(monkeypatch):
    """Pretend a build and GPUs; each runs, or fails with the error given."""

    def pretend(built: bool, *gpus: Exception | None) -> list[str]:
        asked, ones = [], torch.ones

        def on_gpu(size, device):
            asked.append(device)
            index = int(device.removeprefix("cuda:"))
            if index >= len(gpus):
                raise RuntimeError("No CUDA GPUs are available")
            return Answer(gpus[index]) if size == 2 else ones(0)

        monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: built)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(gpus))
        monkeypatch.setattr(torch, "ones", on_gpu)
        return asked

    return pretend


class Answer:
    """A tensor on a GPU: its kernel is late, and fails when a value is read."""

    def __init__(self, error: Exception | None):
        self.error = error

    def sum(self):
        return self

    def item(self):
        if self.error:
            raise self.error


def test_gpus_that_compute_are_fine(machine):
    asked = machine(True, None, None)
    assert why_no_cuda() is None
    assert asked == ["cuda:0", "cuda:1"]


def test_the_first_gpu_that_fails_is_the_reason(machine):
    error = torch.AcceleratorError(f"{NO_KERNEL}\nFor debugging consider ...")
    asked = machine(True, None, error, None)
    assert why_no_cuda() == NO_KERNEL
    assert asked == ["cuda:0", "cuda:1"]


def test_without_a_visible_gpu_cuda_itself_says_why(machine):
    asked = machine(True)
    assert why_no_cuda() == "No CUDA GPUs are available"
    assert asked == ["cuda:0"]


def test_a_build_for_cpus_is_named_and_not_asked(machine):
    asked = machine(False)
    expected = "This torch was built without CUDA; install a CUDA build."
    assert why_no_cuda() == expected
    assert asked == []


def test_other_errors_are_not_swallowed(machine):
    machine(True, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        why_no_cuda()


def test_the_demonstration_agrees_with_torch(machine, monkeypatch, capsys):
    machine(True, None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    *_, verdict = capsys.readouterr().out.splitlines()
    assert verdict == "CUDA can be used: True"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(AssertionError):
        runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")


def test_with_every_gpu_hidden_the_reason_is_one_the_page_quotes():
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-W", "error", ROOT / "snippets" / SNIPPET]
    printed = subprocess.check_output(command, text=True, env=hidden).splitlines()
    assert printed[-2] == "CUDA can be used: False"
    quoted = documented_errors(PAGE)
    assert f"RuntimeError: {printed[-1]}".startswith(tuple(quoted))


def test_the_documented_errors_are_raised(monkeypatch):
    with monkeypatch.context() as patch:  # the child of a process that used CUDA
        patch.setattr(torch.cuda, "_initialized", False)
        patch.setattr(torch.cuda, "_is_in_bad_fork", lambda: True)
        with raises_as_documented(PAGE):
            torch.cuda.init()
    with raises_as_documented(PAGE):
        raise torch.AcceleratorError(NO_KERNEL)
    # What a build for CPUs lacks.
    monkeypatch.setattr(torch.cuda, "_initialized", False)
    monkeypatch.delattr(torch._C, "_cuda_getDeviceCount")
    assert not torch.cuda.is_available()
    with raises_as_documented(PAGE):
        torch.zeros(1, device="cuda")


@pytest.mark.parametrize("code", ["sm_80", "sm_86", "sm_89"])
def test_what_a_gpu_of_capability_8_9_can_run(code):
    assert torch.cuda._code_compatible_with_device(89, int(code[3:]))
    assert not torch.cuda._code_compatible_with_device(89, 75)
    assert not torch.cuda._code_compatible_with_device(120, int(code[3:]))
    assert torch.cuda._code_compatible_with_device(120, 120)


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_the_binaries_hold_the_other_messages():
    library = Path(torch.__file__).parent / "lib/libc10_cuda.so"
    binary, quoted = library.read_bytes(), "\n".join(documented_errors(PAGE))
    for message in (
        "The NVIDIA driver on your system is too old (found version ",
        "CUDA unknown error - this may be due to an incorrectly set up environment, "
        "e.g. changing env variable CUDA_VISIBLE_DEVICES after program start.",
        "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions "
        "before calling NumCudaDevices() that might have already set an error? Error ",
    ):
        assert message.encode() in binary
        assert f"RuntimeError: {message.strip()}" in quoted


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_what_cuda_calls_its_errors():
    cudart = torch._C._cudart

    def text(number):
        return cudart.cudaGetErrorString(cudart.cudaError(number))

    with raises_as_documented(PAGE):
        raise torch.AcceleratorError(f"CUDA error: {text(46)}")
    page = (ROOT / f"docs/en/{PAGE}.md").read_text(encoding="utf-8")
    assert f"802, `{text(802)}`" in page
    assert "unsupported display driver / cuda driver" in text(803)
    assert "forward compatibility was attempted" in text(804)
