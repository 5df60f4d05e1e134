"""aoti-package: C++ and Python against NumPy, and what a package does not check."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch._inductor import (
    aoti_compile_and_package,
    aoti_load_package,
    config,
    cpp_builder,
)
from torch.export import Dim

from tests.chains.pasted import answer
from tests.helpers import ROOT, quoted, raises_as_documented, recipes

PAGE = "deployment/aoti-package"
SNIPPET = ROOT / "snippets/deployment/aoti_package.py"


class Affine(nn.Module):
    def forward(self, x):
        return 2 * x + 1


def package(path, **options):
    program = torch.export.export(Affine(), (torch.ones(2, 3),), **options)
    aoti_compile_and_package(program, package_path=path)
    return aoti_load_package(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("aoti")


@pytest.fixture(scope="module")
def fixed(folder):
    """A package of 2 * x + 1 for two rows and no other number."""
    path = str(folder / "fixed.pt2")
    package(path)
    return path


def test_cpp_and_python_compute_what_numpy_computes(tmp_path):
    (tmp_path / SNIPPET.name).write_text(SNIPPET.read_text("utf-8"), "utf-8")
    (shell,) = (b.code for b in recipes()["aoti-package"].blocks if not b.snippet)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", shell],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert ran.returncode == 0, ran.stderr
    *rows, kind = ran.stdout.splitlines()
    assert kind == "[ CPUFloatType{7,3} ]"

    torch.manual_seed(0)  # the weights of the snippet
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    w1, b1, w2, b2 = (p.detach().numpy() for p in model.parameters())

    def expected(x):
        return np.maximum(x @ w1.T + b1, 0) @ w2.T + b2

    found = np.array([row.split() for row in rows], dtype=float)
    np.testing.assert_allclose(found, expected(np.ones((7, 8))), atol=1e-4)
    compiled = aoti_load_package(str(tmp_path / "model.pt2"))
    for n in (1, 2, 33):
        x = np.random.default_rng(n).normal(size=(n, 8)).astype(np.float32)
        y = compiled(torch.from_numpy(x))
        np.testing.assert_allclose(y, expected(x), rtol=1e-4, atol=1e-5)


def test_other_sizes_and_dtypes_are_not_checked(fixed):
    compiled = aoti_load_package(fixed)
    assert compiled(torch.ones(2, 3)).tolist() == [[3, 3, 3]] * 2
    assert compiled(torch.ones(4, 3)).shape == (2, 3)  # four in, two out
    garbage = compiled(torch.ones(2, 3, dtype=torch.float64))
    assert garbage.dtype == torch.float32
    assert not torch.equal(garbage, torch.full((2, 3), 3.0))


@pytest.mark.parametrize(
    "x",
    [
        torch.arange(6.0).view(3, 2).T,
        torch.arange(12.0).view(4, 3)[::2],
        torch.arange(3.0).expand(2, 3),
        torch.arange(6, dtype=torch.float64).view(2, 3),
    ],
    ids=["permuted", "sliced", "expanded", "float64"],
)
def test_the_answer_reads_other_strides_and_dtypes(x, fixed):
    compiled = aoti_load_package(fixed)
    (call,) = (s for s in answer("aoti-package").splitlines() if "y = " in s)
    names = {"compiled": compiled, "x": x}
    exec(call, names)
    expected = 2 * x.numpy() + 1
    np.testing.assert_allclose(names["y"], expected)
    assert not np.allclose(compiled(x), expected)


@pytest.mark.parametrize(
    ("x", "told"),
    [
        (torch.ones(4, 3), "unmatched dim value at 0, expected: 2, but got: 4"),
        (torch.ones(2, 3, dtype=torch.float64), "unmatched dtype"),
        (torch.ones(3, 2).T, "unmatched stride"),
    ],
)
def test_unless_it_is_asked_for(x, told, fixed, monkeypatch):
    monkeypatch.setenv("AOTI_RUNTIME_CHECK_INPUTS", "1")
    with pytest.raises(RuntimeError, match=told):
        aoti_load_package(fixed)(x)


def test_the_check_refuses_a_batch_of_one_that_works(folder, monkeypatch):
    path = str(folder / "any.pt2")
    compiled = package(path, dynamic_shapes=({0: Dim("batch")},))
    assert compiled(torch.ones(1, 3)).tolist() == [[3, 3, 3]]
    monkeypatch.setenv("AOTI_RUNTIME_CHECK_INPUTS", "1")
    with pytest.raises(RuntimeError, match="dim value is too small at 0"):
        aoti_load_package(path)(torch.ones(1, 3))


def test_the_code_is_for_this_cpu_unless_told(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("sys.platform", "linux")
    assert cpp_builder._get_cpu_arch_cflags("g++") == ["march=native"]
    with config.patch({"cpp.march": "x86-64-v3", "cpp.simdlen": 256}):
        assert cpp_builder._get_cpu_arch_cflags("g++") == ["march=x86-64-v3"]


def test_what_is_refused(fixed, tmp_path):
    program = torch.export.export(Affine(), (torch.ones(2, 3),))
    with raises_as_documented(PAGE, "ValueError: Only ExportedProgram"):
        aoti_compile_and_package(Affine(), package_path="model.pt2")
    with raises_as_documented(PAGE, "AssertionError: Expect package path"):
        aoti_compile_and_package(program, package_path="model.so")
    torch.export.save(program, tmp_path / "program.pt2")
    with raises_as_documented(PAGE, "RuntimeError: Failed to find a generated"):
        aoti_load_package(str(tmp_path / "program.pt2"))
    with raises_as_documented(PAGE, "AttributeError: 'AOTICompiledModel'"):
        aoti_load_package(fixed).eval()


def test_the_headers_ask_for_cpp20(tmp_path):
    (tmp_path / "main.cpp").write_text("#include <ATen/ATen.h>\n")
    include = Path(torch.__file__).parent / "include"
    ran = subprocess.run(
        ["g++", "-std=c++17", "-E", f"-I{include}", "main.cpp"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert quoted(PAGE, "error: #error C++20") in ran.stderr
