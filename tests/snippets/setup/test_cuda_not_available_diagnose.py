"""cuda-not-available-diagnose: simulated machines, and this one with no GPU."""

import os
import subprocess
import sys

import pytest
import torch

from tests.helpers import ROOT, load_snippet

SNIPPET = "setup/cuda_not_available_diagnose.py"


@pytest.fixture
def verdict(monkeypatch, capsys):
    """Run the snippet where making or reading a tensor on the GPU fails so."""

    def run(made: Exception | None = None, read: Exception | None = None) -> str:
        class One:
            def item(self):
                if read:
                    raise read
                return 1.0

        def ones(size, device):
            assert (size, device) == (1, "cuda")
            if made:
                raise made
            return One()

        with monkeypatch.context() as patch:
            patch.setattr(torch, "ones", ones)
            patch.setattr(torch.cuda, "is_available", lambda: not (made or read))
            load_snippet(SNIPPET)
        *facts, result, last = capsys.readouterr().out.splitlines()
        assert result == f"one on the GPU: {made or read or 1.0}"
        assert facts == [
            f"Python: {sys.executable}",
            f"torch: {torch.__version__} for CUDA {torch.version.cuda}",
            f"CUDA_VISIBLE_DEVICES: {os.environ.get('CUDA_VISIBLE_DEVICES')}",
        ]
        return last.removeprefix("verdict: ")

    return run


# The messages as libc10_cuda, CUDA and torch.cuda have them: see the tests of
# check-cuda-available, which find them there.
@pytest.mark.parametrize(
    ("error", "says"),
    [
        (AssertionError("Torch not compiled with CUDA enabled"), "a CPU build"),
        (RuntimeError("Found no NVIDIA driver on your system. Please"), "install the"),
        (
            RuntimeError(
                "The NVIDIA driver on your system is too old (found version 12040)."
            ),
            "update the driver",
        ),
        (RuntimeError("No CUDA GPUs are available"), "unset CUDA_VISIBLE_DEVICES"),
        (
            torch.AcceleratorError("CUDA error: no kernel image is available for"),
            "take a build",
        ),
    ],
)
def test_each_error_has_its_verdict(verdict, error, says):
    assert verdict(made=error).startswith(says)
    assert verdict(read=error).startswith(says)


def test_an_unknown_error_is_shown_and_a_working_gpu_named(verdict):
    assert verdict(made=RuntimeError("CUDA unknown error")) == "see the line above"
    assert verdict() == "see the line above"  # it shows the number


def test_other_errors_are_not_swallowed(verdict):
    with pytest.raises(KeyboardInterrupt):
        verdict(made=KeyboardInterrupt())


def test_the_variable_is_shown(monkeypatch, verdict):
    for value in ("0", "-1"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
        verdict()


def test_a_build_for_cpus_raises_what_the_snippet_looks_for(monkeypatch):
    monkeypatch.setattr(torch.cuda, "_initialized", False)
    monkeypatch.delattr(torch._C, "_cuda_getDeviceCount", raising=False)
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        torch.ones(1, device="cuda")


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_on_this_machine_with_its_gpus_hidden():
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-W", "error", ROOT / "snippets" / SNIPPET]
    said = subprocess.check_output(command, text=True, env=hidden).splitlines()
    assert said[2] == "CUDA_VISIBLE_DEVICES: "
    assert said[4] in {
        "verdict: install the driver, or docker run --gpus all",
        "verdict: unset CUDA_VISIBLE_DEVICES, or ask for a GPU",
    }
