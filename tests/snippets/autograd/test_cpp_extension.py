"""cpp-extension: the operator against SciPy, and what goes wrong around it."""

import contextlib
import importlib.util
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.signal import lfilter
from torch.utils import cpp_extension

from tests.helpers import assert_documented, load_snippet, raises_as_documented

PAGE = "autograd/cpp-extension"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cpp")


@pytest.fixture(scope="module")
def snippet(folder):
    """Built once for all tests."""
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.setenv("TORCH_EXTENSIONS_DIR", str(folder))
        return load_snippet("autograd/cpp_extension.py")


@pytest.fixture(scope="module")
def library(snippet, folder):
    return folder / "my_ops/my_ops.so"


def run(folder, code):
    """Run code in a process of its own."""
    command = [sys.executable, "-c", code]
    options = {"capture_output": True, "text": True, "check": False, "timeout": 120}
    return subprocess.run(command, cwd=folder, **options)


def filtered(x, a):
    """The same by SciPy, along the last dimension."""
    return lfilter([1], [1, -a], x) if x.size else x


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (2, 0)])
def test_the_operator_and_its_gradient_are_filters(shape, snippet):
    torch.manual_seed(0)
    x = torch.randn(shape, requires_grad=True)
    y = snippet.decay(x, 0.7)
    expected = filtered(x.detach().numpy(), 0.7)
    np.testing.assert_allclose(y.detach(), expected, rtol=1e-5, atol=1e-5)
    weight = torch.randn(shape)
    (weight * y).sum().backward()
    expected = filtered(weight.numpy()[..., ::-1], 0.7)[..., ::-1]
    np.testing.assert_allclose(x.grad, expected, rtol=1e-5, atol=1e-5)


def test_strides_do_not_matter(snippet):
    x = torch.randn(4, 3).T
    assert not x.is_contiguous()
    expected = filtered(x.numpy(), 0.5)
    np.testing.assert_allclose(snippet.decay(x, 0.5), expected, rtol=1e-5, atol=1e-5)


def test_opcheck_and_a_compiled_model(snippet):
    assert snippet.decay(torch.ones(2, 3, device="meta"), 0.5).shape == (2, 3)
    x = torch.randn(2, 3, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = torch.library.opcheck(snippet.decay, (x, 0.5))
    assert set(result.values()) == {"SUCCESS"}

    def model(x):
        return snippet.decay(x + 1, 0.5)

    compiled = torch.compile(model, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), model(x))


def test_what_the_operator_refuses(snippet):
    with raises_as_documented(PAGE, "RuntimeError: const_data_ptr<float>"):
        snippet.decay(torch.ones(2, 3, dtype=torch.float64), 0.5)
    with raises_as_documented(PAGE, "NotImplementedError: Could not run 'my::decay'"):
        snippet.decay(torch.ones(2, 3).to_sparse(), 0.5)


def test_the_library_is_loaded_not_imported(library):
    """And it needs torch to be there first."""
    last = run(library.parent, "import my_ops").stderr.splitlines()[-1]
    assert_documented(PAGE, "ImportError: libc10.so", last)
    with pytest.raises(ImportError, match="PyInit_my_ops"):
        importlib.util.module_from_spec(
            importlib.util.spec_from_file_location("my_ops", library)
        )
    assert torch.compiled_with_cxx11_abi()


def test_without_register_autograd_there_is_no_gradient(library):
    code = f"""if True:
        import torch
        torch.ops.load_library({str(library)!r})
        x = torch.ones(1, 2, requires_grad=True)
        torch.ops.my.decay(x, 0.5).sum().backward()
        print(x.grad)
        (torch.ops.my.decay(x, 0.5).sum() + 0 * x.sum()).backward()
        print(x.grad)
    """
    ran = run(library.parent, code)
    assert ran.stdout.splitlines() == ["None", "tensor([[0., 0.]])"]
    start = "UserWarning: my::decay"
    assert_documented(PAGE, start, ran.stderr[ran.stderr.index(start) :])


def test_a_second_library_with_the_same_operator_ends_the_process(library):
    copy = str(shutil.copy(library, library.with_name("my_ops_v1.so")))
    load = "import torch; torch.ops.load_library({!r}); torch.ops.load_library({!r})"
    same, other = (load.format(str(library), path) for path in (str(library), copy))
    assert run(library.parent, same).returncode == 0
    assert run(library.parent, other).returncode < 0


def test_what_the_compiler_does_not_find(folder):
    (folder / "include.cpp").write_text("#include <torch/extension.h>\n")
    compiler = cpp_extension.get_cxx_compiler()
    ran = subprocess.run(
        [compiler, "-fsyntax-only", "include.cpp"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    start = "fatal error: torch/extension.h"
    assert_documented(PAGE, start, ran.stderr[ran.stderr.index(start) :])
    paths = map(Path, cpp_extension.include_paths())
    assert any((path / "torch/extension.h").exists() for path in paths)


def test_without_a_gpu_in_sight_no_architecture_is_known(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.delenv("TORCH_CUDA_ARCH_LIST", raising=False)
    with pytest.raises(IndexError, match="list index out of range"):
        cpp_extension._get_cuda_arch_flags()
    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "9.0")
    flags = cpp_extension._get_cuda_arch_flags()
    assert flags == ["-gencode=arch=compute_90,code=sm_90"]


def test_a_build_needs_ninja_on_the_path(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with raises_as_documented(PAGE, "RuntimeError: Ninja is required"):
        cpp_extension.verify_ninja_availability()


def test_code_that_does_not_compile(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    file = tmp_path / "broken.cpp"
    file.write_text("int f( { }\n")
    with raises_as_documented(PAGE, "RuntimeError: Error building extension"):
        cpp_extension.load("broken", [str(file)], is_python_module=False)
