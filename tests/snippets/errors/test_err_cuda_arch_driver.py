"""err-cuda-arch-driver: simulated GPUs, and torch's own list of its builds."""

import re
import subprocess
import warnings

import pytest
import torch
from torch.utils import cpp_extension

from tests.helpers import ROOT, load_snippet, quoted, raises_as_documented, recipes

PAGE = "errors/err-cuda-arch-driver"
SNIPPET = "errors/err_cuda_arch_driver.py"
CODE = ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"]
ANSWER = recipes()["err-cuda-arch-driver"].answer
NO_KERNEL = "CUDA error: no kernel image is available for execution on the device"


@pytest.fixture
def printed(monkeypatch, capsys):
    """Run the snippet on a GPU of this capability, where a sum gives this."""

    def run(capability, result):
        def ones(size, device):
            assert device == "cuda"
            if isinstance(result, Exception):
                raise result
            return result - 1

        with monkeypatch.context() as patch:
            patch.setattr(torch.cuda, "is_available", lambda: True)
            patch.setattr(torch.cuda, "get_device_capability", lambda: capability)
            patch.setattr(torch.cuda, "get_arch_list", lambda: CODE)
            patch.setattr(torch, "ones", ones)
            load_snippet(SNIPPET)
        first, *rest = capsys.readouterr().out.splitlines()
        assert first == f"built for CUDA {torch.version.cuda} {CODE}"
        return rest

    return run


def test_the_build_and_the_gpu_are_shown_and_that_it_computes(printed):
    assert printed((8, 9), torch.tensor([2.0])) == ["GPU: (8, 9)", "tensor([2.])"]


@pytest.mark.parametrize("kind", [RuntimeError, torch.AcceleratorError])
def test_a_gpu_without_code_and_its_error(printed, kind):
    assert printed((6, 1), kind(NO_KERNEL)) == ["GPU: (6, 1)", NO_KERNEL]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_driver_the_answer_blames_no_build(capsys):
    exec(ANSWER.text, {})
    first, gpu, reason = capsys.readouterr().out.splitlines()
    arches = torch.cuda.get_arch_list()
    assert first == f"built for CUDA {torch.version.cuda} {arches}"
    assert gpu == "GPU: none found"
    starts = ("Found no NVIDIA driver", "Torch not compiled with CUDA")
    assert reason.startswith(starts)


@pytest.mark.skipif(torch.version.cuda is None, reason="torch's rule is that of CUDA")
def test_code_runs_where_the_first_number_is_the_same():
    fits = torch.cuda._code_compatible_with_device
    runs = {75: True, 80: True, 89: True, 90: True, 121: True, 61: False, 130: False}
    codes = [int(arch.removeprefix("sm_")) for arch in CODE]
    assert {gpu: any(fits(gpu, code) for code in codes) for gpu in runs} == runs


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


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_what_cuda_calls_its_errors():
    cudart = torch._C._cudart

    def text(number):
        return cudart.cudaGetErrorString(cudart.cudaError(number))

    for number in (209, 222):  # no kernel image; PTX of a newer CUDA
        assert quoted(PAGE, f"AcceleratorError: CUDA error: {text(number)}")
    page = (ROOT / f"docs/en/{PAGE}.md").read_text("utf-8")
    assert f"`Error 804: {text(804)}`" in page


def test_an_extension_with_another_cuda(monkeypatch, tmp_path):
    """A toolkit whose nvcc only tells its version."""
    nvcc = tmp_path / "bin/nvcc"
    nvcc.parent.mkdir()
    nvcc.write_text("#!/bin/sh\necho release 11.8, V11.8.89\n")
    nvcc.chmod(0o755)
    monkeypatch.setattr(cpp_extension, "CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("TORCH_DONT_CHECK_COMPILER_ABI", "1")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    with raises_as_documented(PAGE, "RuntimeError: ('The detected CUDA"):
        cpp_extension._check_cuda_version("g++", cpp_extension.TorchVersion("13.0"))
    monkeypatch.setattr(torch.version, "cuda", "11.7")
    cpp_extension._check_cuda_version("g++", cpp_extension.TorchVersion("13.0"))


def test_an_extension_that_does_not_compile(monkeypatch, tmp_path):
    def fails(command, **options):
        raise subprocess.CalledProcessError(1, command)

    monkeypatch.setattr(subprocess, "run", fails)
    with raises_as_documented(PAGE, "RuntimeError: Error compiling objects"):
        cpp_extension._run_ninja_build(
            str(tmp_path), True, "Error compiling objects for extension"
        )
    monkeypatch.setenv("MAX_JOBS", "2")
    assert cpp_extension._get_num_workers(False) == 2


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


def test_an_old_gpu_gets_the_command_of_the_install_page():
    command = (
        "`python -m pip install torch==2.14.1 torchvision "
        "--index-url https://download.pytorch.org/whl/cu126`"
    )
    for lang in ("en", "zh"):
        for page in (PAGE, "setup/install-pytorch"):
            text = (ROOT / f"docs/{lang}/{page}.md").read_text("utf-8")
            assert command in text


def test_an_extension_without_a_toolkit(monkeypatch):
    monkeypatch.setattr(cpp_extension, "CUDA_HOME", None)
    with raises_as_documented(PAGE, "OSError: CUDA_HOME environment variable"):
        cpp_extension._join_cuda_home("bin", "nvcc")
