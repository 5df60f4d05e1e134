"""other-accelerators: a plug-in's name through the place that torch keeps for it."""

import importlib.metadata
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
import torch.distributed as dist

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "setup/other-accelerators"
SNIPPET = ROOT / "snippets/setup/other_accelerators.py"
PLUG_IN = """
import torch
torch.utils.rename_privateuse1_backend("npu")
print(torch.device("npu", 1))
"""


def test_it_computes_on_what_there_is(capsys):
    snippet = load_snippet("setup/other_accelerators.py")
    assert snippet.y.device.type == snippet.device.type
    assert snippet.device.type == (snippet.gpu or torch.device("cpu")).type
    torch.testing.assert_close(
        snippet.y, snippet.model(torch.ones_like(snippet.y.new_empty(3, 4)))
    )
    printed = capsys.readouterr().out.splitlines()
    assert printed == [f"found: {snippet.gpu}", "error: npu is not known"]


@pytest.mark.parametrize("name", ["npu", "mlu", "musa", "rocm"])
def test_names_that_torch_does_not_know(name):
    with raises_as_documented(PAGE, "RuntimeError: Expected one of cpu") as caught:
        torch.device(name)
    assert str(caught.value).endswith(f"device type at start of device string: {name}")


def test_names_that_torch_knows():
    assert [torch.device(name).type for name in ("cuda", "mps", "xpu")] == [
        "cuda",
        "mps",
        "xpu",
    ]


def test_without_torch_accelerator(monkeypatch):
    """As in PyTorch 2.5 and older."""
    monkeypatch.delattr(torch, "accelerator")
    with raises_as_documented(PAGE, "AttributeError: module 'torch' has no attribute"):
        exec(recipes()["other-accelerators"].answer.text, {"torch": torch})
    npu = SimpleNamespace(is_available=lambda: True)
    monkeypatch.setattr(torch, "npu", npu, raising=False)
    assert ("npu" if torch.npu.is_available() else "cpu") == "npu"


def test_a_plug_in_brings_its_name():
    """In a process of its own: the name stays."""
    run = subprocess.run(
        [sys.executable, "-c", PLUG_IN],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert run.stdout.strip() == "npu:1"


class Broken:
    """A plug-in whose library is missing."""

    name = "torch_npu"

    def load(self):
        raise ImportError("libhccl.so: cannot open shared object file")


def test_a_plug_in_that_cannot_be_loaded(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Broken()])
    with raises_as_documented(PAGE, "RuntimeError: Failed to load the backend"):
        torch._import_device_backends()


def test_the_page_names_the_backends_that_torch_has():
    page = (ROOT / f"docs/en/{PAGE}.md").read_text(encoding="utf-8")
    for backend in (dist.Backend.NCCL, dist.Backend.XCCL):
        assert f'`"{backend}"`' in page
