"""check-cuda-available: simulated machines, and this one with its GPUs hidden."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.helpers import ROOT, load_snippet, quoted, quotes, raises_as_documented

SNIPPET, PAGE = "setup/check_cuda_available.py", "setup/check-cuda-available"
SUM = "two ones on the GPU:"
NO_KERNEL = "CUDA error: no kernel image is available for execution on the device"


class Ones:
    """Two ones on a GPU: whatever fails, fails when their sum is read."""

    def __init__(self, log: list[str], error: Exception | None):
        self.log, self.error = log, error

    def sum(self):
        self.log.append("sum")
        return self

    def item(self):
        self.log.append("item")
        if self.error:
            raise self.error
        return 2.0


@pytest.fixture
def printed(monkeypatch, capsys):
    """Run the snippet where a tensor can be made on a GPU, or not; what it prints."""

    def run(made: Exception | None = None, read: Exception | None = None):
        log = []

        def ones(size, device):
            log.append((size, device))
            if made:
                raise made
            return Ones(log, read)

        with monkeypatch.context() as patch:
            patch.setattr(torch, "ones", ones)
            patch.setattr(torch.cuda, "is_available", lambda: made is None)
            patch.setattr(torch.accelerator, "is_available", lambda: made is not None)
            patch.setattr(torch.version, "cuda", "12.3")
            load_snippet(SNIPPET)
        return capsys.readouterr().out.splitlines(), log

    return run


def test_a_gpu_that_computes_works(printed):
    lines, log = printed()
    assert lines == [
        f"Python: {sys.executable}",
        f"torch: {torch.__version__} for CUDA 12.3",
        "available: True",
        f"{SUM} 2.0",
    ]
    assert log == [(2, "cuda"), "sum", "item"]


def test_a_kernel_that_fails_late_is_noticed(printed):
    lines, _ = printed(read=torch.AcceleratorError(NO_KERNEL))
    assert lines[2:] == ["available: True", f"{SUM} {NO_KERNEL}"]


@pytest.mark.parametrize("kind", [AssertionError, RuntimeError])
def test_what_keeps_a_tensor_from_being_made_is_the_reason(printed, kind):
    lines, _ = printed(made=kind("no driver, say"))
    assert lines[2:] == ["available: False", f"{SUM} no driver, say"]


def test_other_errors_are_not_swallowed(printed):
    with pytest.raises(KeyboardInterrupt):
        printed(read=KeyboardInterrupt())


def test_with_every_gpu_hidden_the_reason_is_one_the_page_quotes():
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-W", "error", ROOT / "snippets" / SNIPPET]
    printed = subprocess.check_output(command, text=True, env=hidden).splitlines()
    assert printed[2] == "available: False"
    reason = printed[3].removeprefix(f"{SUM} ")
    assert f"RuntimeError: {reason}".startswith(tuple(quotes(PAGE)))


def test_the_documented_errors_are_raised(monkeypatch):
    with monkeypatch.context() as patch:  # the child of a process that used CUDA
        patch.setattr(torch.cuda, "_initialized", False)
        patch.setattr(torch.cuda, "_is_in_bad_fork", lambda: True)
        with raises_as_documented(PAGE, "RuntimeError: Cannot re-initialize CUDA"):
            torch.cuda.init()
    # What a build for CPUs lacks.
    monkeypatch.setattr(torch.cuda, "_initialized", False)
    monkeypatch.delattr(torch._C, "_cuda_getDeviceCount")
    assert not torch.cuda.is_available()
    with raises_as_documented(PAGE, "AssertionError: Torch not compiled"):
        torch.zeros(1, device="cuda")


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_the_binaries_hold_the_other_messages():
    """They need a driver, in a state that none here is in."""
    library = Path(torch.__file__).parent / "lib/libc10_cuda.so"
    binary = library.read_bytes()
    for message in (
        "The NVIDIA driver on your system is too old (found version ",
        "CUDA unknown error - this may be due to an incorrectly set up environment, "
        "e.g. changing env variable CUDA_VISIBLE_DEVICES after program start.",
        "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions "
        "before calling NumCudaDevices() that might have already set an error? Error ",
        "CUDA driver initialization failed, you might not have a CUDA gpu.",
        "Found no NVIDIA driver on your system.",
    ):
        assert message.encode() in binary
        assert quoted(PAGE, f"RuntimeError: {message.strip()}")
    assert b"No CUDA GPUs are available" in binary


def test_the_older_build_is_installed_as_on_the_page_of_installation():
    command = "pip install torch==2.14.1 torchvision --index-url https://"
    for page in (PAGE, "setup/install-pytorch"):
        for language in ("en", "zh"):
            text = (ROOT / f"docs/{language}/{page}.md").read_text(encoding="utf-8")
            assert f"{command}download.pytorch.org/whl/cu126`" in text


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_what_cuda_calls_its_errors():
    cudart = torch._C._cudart

    def text(number):
        return cudart.cudaGetErrorString(cudart.cudaError(number))

    for number in (46, 209):  # busy; no kernel image
        assert quoted(PAGE, f"AcceleratorError: CUDA error: {text(number)}")
    page = (ROOT / f"docs/en/{PAGE}.md").read_text(encoding="utf-8")
    assert f"802, `{text(802)}`" in page
    assert "unsupported display driver / cuda driver" in text(803)
    assert "forward compatibility was attempted" in text(804)


RELEASES = getattr(torch.cuda, "PYTORCH_RELEASES_CODE_CC", {})


@pytest.mark.skipif(
    torch.version.cuda is None or not str(torch.__version__).startswith("2.15."),
    reason="the page speaks of 2.15",
)
@pytest.mark.parametrize("build", RELEASES)
def test_which_build_has_code_for_which_gpu(build):
    codes = RELEASES[build]["x86_64"]

    def runs(capability):
        fits = torch.cuda._code_compatible_with_device
        return any(fits(capability, code) for code in codes)

    assert all(map(runs, (75, 80, 86, 89, 90)))
    for old in (50, 61, 70):  # cu126 alone
        assert runs(old) == (build == "12.6")
    for new in (100, 120, 121):  # cu130 and later
        assert runs(new) == (build != "12.6")
