"""match-torch-torchvision: what is kept by hand, and each mismatch, simulated."""

import importlib
import importlib.metadata
import subprocess
import sys

import pytest
import torch

from tests.helpers import (
    ROOT,
    TORCH_CPU,
    assert_documented,
    lacking,
    load_snippet,
    raises_as_documented,
)

SNIPPET, PAGE = "setup/match_torch_torchvision.py", "setup/match-torch-torchvision"
UNLOADABLE = """
import torch
def refuse(path):
    raise OSError("undefined symbol")
torch.ops.load_library = refuse  # as for a library built for another torch
try:
    import torchvision
except RuntimeError as error:
    print(f"RuntimeError: {error}")
"""


def test_it_prints_both_versions_and_the_demand(monkeypatch, capsys):
    of = {"torch": "9.8.7", "torchvision": "6.5.4"}
    needs = ["numpy", "torch==9.8.7", "pillow>=1"]
    monkeypatch.setattr(importlib.metadata, "version", of.__getitem__)
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: needs)
    load_snippet(SNIPPET)
    assert capsys.readouterr().out.splitlines() == [
        "torch 9.8.7",
        "torchvision 6.5.4 asks for torch==9.8.7",
    ]


def test_the_operator_drops_the_repeated_box_only():
    """By hand: boxes 0 and 1 are one, so their overlap is 1; box 2 is apart."""
    snippet = load_snippet(SNIPPET)
    first, second, third = snippet.boxes
    assert torch.equal(first, second)
    assert third[0] > first[2]
    assert snippet.kept.tolist() == [0, 2]


def test_a_library_that_does_not_load_is_the_missing_operator():
    child = subprocess.run(
        [sys.executable, "-c", UNLOADABLE], capture_output=True, text=True
    )
    assert_documented(PAGE, "RuntimeError: operator torchvision", child.stdout.strip())


def test_two_cuda_builds(monkeypatch):
    import torchvision.extension as extension

    monkeypatch.setattr(extension, "_has_ops", lambda: True)
    monkeypatch.setattr(
        torch.ops.torchvision, "_cuda_version", lambda: 13000, raising=False
    )
    monkeypatch.setattr(torch.version, "cuda", "12.6")
    with raises_as_documented(
        PAGE,
        "RuntimeError: Detected that PyTorch and torchvision were compiled with "
        "different CUDA major",
    ):
        extension._check_cuda_version()
    monkeypatch.setattr(torch.version, "cuda", "13.2")  # the same major version
    assert extension._check_cuda_version() == 13000


def test_operators_that_are_missing_when_called(monkeypatch):
    import torchvision.extension as extension

    monkeypatch.setattr(extension, "_has_ops", lambda: False)
    with raises_as_documented(PAGE, "RuntimeError: Couldn't load custom C++ ops"):
        extension._assert_has_ops()


def test_the_abi_that_the_names_of_wheels_tell():
    has_new_names = not lacking(TORCH_CPU, "NSt7__cxx1112basic_string")
    assert torch.compiled_with_cxx11_abi() == has_new_names


@pytest.mark.parametrize("package", ["torch", "torchvision"])
def test_the_installed_pair_is_a_row_of_the_table(package):
    """The pages' table names the release that is installed here."""
    minor = ".".join(importlib.metadata.version(package).split(".")[:2])
    for lang in ("en", "zh"):
        page = (ROOT / f"docs/{lang}/{PAGE}.md").read_text(encoding="utf-8")
        assert f" {minor} " in page.replace(",", " ").replace("、", " ")


def test_an_environment_for_a_build_has_no_torch():
    """As pip makes one: none of the packages that are installed."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", "import torch"],
        capture_output=True,
        text=True,
    )
    start = "ModuleNotFoundError: No module named 'torch'"
    assert_documented(PAGE, start, done.stderr.splitlines()[-1])


def test_a_module_that_torchvision_has_removed():
    with raises_as_documented(PAGE, "ModuleNotFoundError: No module named 'torchv"):
        importlib.import_module("torchvision.transforms.functional_tensor")
    functional = importlib.import_module("torchvision.transforms.functional")
    assert functional.rgb_to_grayscale(torch.rand(3, 2, 2)).shape == (1, 2, 2)
