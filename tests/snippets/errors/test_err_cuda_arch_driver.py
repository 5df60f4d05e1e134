"""err-cuda-arch-driver: simulated GPUs, and torch's own list of its builds."""

import re
import warnings

import pytest
import torch

from tests.helpers import ROOT, load_snippet, quoted, raises_as_documented

PAGE = "errors/err-cuda-arch-driver"
SNIPPET = "errors/err_cuda_arch_driver.py"
CODE = ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"]
NO_KERNEL = "CUDA error: no kernel image is available for execution on the device"


@pytest.fixture
def printed(monkeypatch, capsys):
    """Run the snippet on a GPU of this capability, or without one."""

    def run(capability=None, error=None):
        class One:
            def item(self):
                if error:
                    raise error

        with monkeypatch.context() as patch:
            there = capability is not None
            patch.setattr(torch.cuda, "is_available", lambda: there)
            patch.setattr(torch.cuda, "get_device_capability", lambda: capability)
            patch.setattr(torch.cuda, "get_arch_list", lambda: CODE)
            patch.setattr(torch, "ones", lambda size, device: One())
            load_snippet(SNIPPET)
        first, code, last = capsys.readouterr().out.splitlines()
        version = f"{torch.__version__} built for CUDA {torch.version.cuda}"
        assert first == f"torch: {version}"
        return code.removeprefix("code for it: ") == "True", last

    return run


@pytest.mark.parametrize(
    ("capability", "runs"),
    [
        ((6, 1), False),  # as above all: older than every code
        ((7, 0), False),
        ((7, 5), True),
        ((8, 0), True),
        ((8, 9), True),  # by the code for 8.6
        ((9, 0), True),
        ((11, 0), False),
        ((12, 1), True),
        ((13, 0), False),  # newer than every code
    ],
)
def test_code_runs_where_the_first_number_is_the_same(printed, capability, runs):
    assert printed(capability) == (runs, "works")
    if torch.version.cuda:  # torch's own rule
        number = 10 * capability[0] + capability[1]
        codes = [int(arch.removeprefix("sm_")) for arch in CODE]
        fits = torch.cuda._code_compatible_with_device
        assert any(fits(number, code) for code in codes) == runs


def test_without_a_gpu_a_gtx_1080_stands_in(printed):
    error = RuntimeError("Found no NVIDIA driver on your system. Please check")
    shown = (False, "error: Found no NVIDIA driver on your system")
    assert printed(error=error) == shown


@pytest.mark.parametrize("kind", [AssertionError, torch.AcceleratorError])
def test_the_error_is_shown(printed, kind):
    assert printed((9, 0), kind(NO_KERNEL))[1] == f"error: {NO_KERNEL}"


@pytest.fixture
def gtx_1080(monkeypatch):
    """What torch asks a GPU about itself."""
    name = "NVIDIA GeForce GTX 1080"
    monkeypatch.setattr(torch.version, "cuda", torch.version.cuda or "13.0")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: name)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda index: (6, 1))
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: CODE)


@pytest.mark.usefixtures("gtx_1080")
def test_the_warnings_of_an_old_gpu():
    page = (ROOT / f"docs/en/{PAGE}.md").read_text("utf-8")
    with pytest.warns(UserWarning, match="sm_61") as caught:
        torch.cuda._check_cubins()
    assert str(caught[0].message).splitlines()[1] in page
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with raises_as_documented(PAGE, "UserWarning: Found GPU0"):
            torch.cuda._check_capability()


def test_a_build_for_cpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "_initialized", False)
    monkeypatch.delattr(torch._C, "_cuda_getDeviceCount", raising=False)
    with raises_as_documented(PAGE, "AssertionError: Torch not compiled"):
        torch.ones(1, device="cuda")


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_what_cuda_calls_its_errors():
    cudart = torch._C._cudart

    def text(number):
        return cudart.cudaGetErrorString(cudart.cudaError(number))

    for number in (209, 222):  # no kernel image; PTX of a newer CUDA
        assert quoted(PAGE, f"AcceleratorError: CUDA error: {text(number)}")
    message = quoted(PAGE, "RuntimeError: Unexpected error from cudaGet")
    assert message.endswith(f"Error 804: {text(804)}")


RELEASES = getattr(torch.cuda, "PYTORCH_RELEASES_CODE_CC", {})
ROW = re.compile(r"^\| .+ \| ([\d., ]+) \| (yes|no) \| (yes|no) \|$", re.MULTILINE)


@pytest.mark.skipif("12.6" not in RELEASES, reason="torch does not list its builds")
def test_the_table_of_builds_is_that_of_torch():
    page = (ROOT / f"docs/en/{PAGE}.md").read_text("utf-8")
    rows = ROW.findall(page)
    assert len(rows) == 7
    fits = torch.cuda._code_compatible_with_device
    for capabilities, *cells in rows:
        for capability in capabilities.split(", "):
            number = round(10 * float(capability))
            for build, cell in zip(("12.6", "13.0"), cells, strict=True):
                codes = RELEASES[build]
                codes = codes["x86_64"] if isinstance(codes, dict) else codes
                there = any(fits(number, code) for code in codes)
                assert there == (cell == "yes"), (capability, build)
