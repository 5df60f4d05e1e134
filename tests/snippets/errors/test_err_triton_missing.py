"""err-triton-missing: the messages from torch's own code, the ways around them."""

import inspect
from importlib.metadata import requires
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch._inductor import config, cpp_builder
from torch._inductor.exc import CppCompileError, GPUTooOldForTriton, TritonMissing

from tests.helpers import assert_documented, load_snippet, raises_as_documented

SNIPPET, PAGE = "errors/err_triton_missing.py", "errors/err-triton-missing"
NO_COMPILER = {"cpp.cxx": (None, "g++-missing")}


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def test_the_snippet_raises_what_the_page_quotes_and_runs(capsys):
    snippet = load_snippet(SNIPPET)
    error, runs = capsys.readouterr().out.splitlines()
    assert_documented(
        PAGE, "InductorError: Inv", error.replace("error:", "InductorError:")
    )
    assert runs == "runs: True"
    linear = snippet.model[0]
    expected = nn.functional.gelu(snippet.x @ linear.weight.T + linear.bias)
    for run in (snippet.graph, snippet.plain):
        torch.testing.assert_close(run(snippet.x), expected)
    assert snippet.plain is snippet.model


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_these_backends_need_no_compiler(backend):
    model, x = nn.Linear(3, 2), torch.randn(4, 3)
    with config.patch(NO_COMPILER):
        run = torch.compile(model, backend=backend)
        torch.testing.assert_close(run(x), x @ model.weight.T + model.bias)


def test_suppress_errors_falls_back_to_eager():
    model, x = nn.Sequential(nn.Linear(3, 2), nn.GELU()), torch.randn(4, 3)
    with config.patch(NO_COMPILER), torch._dynamo.config.patch(suppress_errors=True):
        torch.testing.assert_close(torch.compile(model)(x), model(x))
    torch._dynamo.reset()
    with config.patch(NO_COMPILER), raises_as_documented(PAGE, "InductorError: Inv"):
        torch.compile(model)(x)


def test_the_text_about_triton_is_that_of_torch():
    text = str(TritonMissing(inspect.currentframe()))
    assert_documented(PAGE, "TritonMissing: Cannot", f"TritonMissing: {text}")


def test_the_texts_about_old_gpus_and_a_mac_are_those_of_torch():
    gpu = SimpleNamespace(name="NVIDIA GeForce GTX 1080", major=6, minor=1)
    with raises_as_documented(PAGE, "GPUTooOldForTriton: Found") as caught:
        raise GPUTooOldForTriton(gpu, inspect.currentframe())
    assert "CUDA Capability >= 7.0" in str(caught.value)
    said = "fatal error: 'omp.h' file not found"
    with raises_as_documented(PAGE, "CppCompileError: C++") as caught:
        raise CppCompileError(["clang++", "a.cpp"], said)
    assert "Output:\n" + said in str(caught.value)
    if not torch.__version__.startswith("2.15"):
        return
    wanted = [one for one in requires("torch") if one.startswith("triton~=3.9.0")]
    assert len(wanted) == 1


def test_windows_without_cl():
    """Its check runs here, too: there is no `cl`."""
    with pytest.raises(RuntimeError) as caught:
        cpp_builder.check_compiler_exist_windows("cl")
    raised = f"{caught.type.__name__}: {caught.value}"
    if caught.type is RuntimeError:  # torch 2.11
        assert_documented(PAGE, "RuntimeError: Compiler", raised)
    else:
        assert_documented(PAGE, "InvalidCxxCompiler: Compiler", raised)


def test_triton_without_a_c_compiler(monkeypatch, tmp_path):
    """An image for GPUs that has no gcc."""
    build = pytest.importorskip("triton.runtime.build")
    if not hasattr(build, "_find_compiler"):
        pytest.skip("in this Triton the search is a part of a longer function")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    build._find_compiler.cache_clear()
    with raises_as_documented(PAGE, "RuntimeError: Failed to find C compiler"):
        build._find_compiler("c")


@pytest.mark.skipif(torch.cuda.is_available(), reason="Triton finds this GPU")
def test_triton_without_a_gpu(monkeypatch):
    driver = pytest.importorskip("triton.runtime.driver")
    monkeypatch.delenv("TRITON_DEFAULT_BACKEND", raising=False)
    with raises_as_documented(PAGE, "RuntimeError: 0 active drivers"):
        driver._create_driver()
