"""err-cudnn: a convolution by hand, simulated versions, and what the libraries say."""

import mmap
import os
import sys
from itertools import product
from pathlib import Path

import pytest
import torch

from tests.helpers import load_snippet, quoted, raises_as_documented, recipes

SNIPPET, PAGE = "errors/err_cudnn.py", "errors/err-cudnn"


def test_the_snippet_computes_a_convolution_both_ways(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    switches = []
    snippet = load_snippet(SNIPPET)
    snippet.model.register_forward_hook(
        lambda *args: switches.append(torch.backends.cudnn.enabled)
    )
    assert capsys.readouterr().out == (
        f"cuDNN {torch.backends.cudnn.version()}\n"
        "free, total: no GPU\n"
        "the same result with and without cuDNN\n"
    )
    assert not snippet.x.is_contiguous()
    weight, bias = snippet.model.weight.double(), snippet.model.bias.double()
    images = snippet.images.double()  # (B, H, W, C)
    by_hand = bias.view(1, 8, 1, 1).repeat(2, 1, 14, 14)
    for i, j in product(range(3), repeat=2):
        window = images[:, i : i + 14, j : j + 14]
        by_hand += torch.einsum("bhwc,oc->bohw", window, weight[:, :, i, j])
    torch.testing.assert_close(snippet.without.double(), by_hand, atol=1e-2, rtol=0)


def test_cudnn_is_off_in_the_block_and_on_outside(monkeypatch):
    seen = []
    forward = torch.nn.Conv2d.forward

    def noting(self, x):
        seen.append((torch.backends.cudnn.enabled, x.is_contiguous()))
        return forward(self, x)

    monkeypatch.setattr(torch.nn.Conv2d, "forward", noting)
    load_snippet(SNIPPET)
    assert seen == [(False, False), (True, True)]
    assert torch.backends.cudnn.enabled


def test_a_full_gpu_is_shown_before_cudnn_is_left_out(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (5, 24))
    monkeypatch.setattr(torch.backends.cudnn, "version", lambda: 92000)
    cpu = torch.device("cpu")
    monkeypatch.setattr(torch, "device", lambda kind: cpu)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    load_snippet(SNIPPET)
    printed = capsys.readouterr().out
    assert printed.startswith("cuDNN 92000\nfree, total: (5, 24)\n")


def test_the_answer_calls_the_model_without_cudnn():
    answer = recipes()["err-cudnn"].answer
    assert set(answer.yours) == {"model", "x"}
    names = {"model": lambda x: torch.backends.cudnn.enabled, "x": None}
    exec(answer.text, names)
    assert names["without"] is False
    assert torch.backends.cudnn.enabled


@pytest.fixture
def names():
    """The globals of torch's check of the version, with nothing found out yet."""
    names = torch.backends.cudnn.version.__globals__
    known, names["__cudnn_version"] = names["__cudnn_version"], None
    yield names
    names["__cudnn_version"] = known


needs_cudnn = pytest.mark.skipif(
    not torch.backends.cudnn.is_available(), reason="a build without cuDNN"
)


@needs_cudnn
@pytest.mark.parametrize("path", [None, "/usr/local/cuda/lib64", "/opt/lib"])
def test_another_cudnn_is_noticed(names, monkeypatch, path):
    monkeypatch.setattr(names["_cudnn"], "getRuntimeVersion", lambda: (8, 9, 2))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    monkeypatch.delenv("PYTORCH_SKIP_CUDNN_COMPATIBILITY_CHECK", raising=False)
    if path:
        monkeypatch.setitem(os.environ, "LD_LIBRARY_PATH", path)
    with raises_as_documented(PAGE, "RuntimeError: cuDNN version incompat"):
        torch.backends.cudnn.version()


@needs_cudnn
def test_a_cudnn_too_new_for_the_gpu_is_noticed(names, monkeypatch):
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(names["_cudnn"], "getVersionInt", lambda: 91900)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda index: (7, 0))
    with raises_as_documented(PAGE, "RuntimeError: cuDNN version 91900"):
        torch.backends.cudnn.version()


def test_attention_by_cudnn_can_be_switched_off():
    enabled = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(False)
    try:
        assert not torch.backends.cuda.cudnn_sdp_enabled()
    finally:
        torch.backends.cuda.enable_cudnn_sdp(enabled)


@pytest.mark.skipif(
    torch.version.cuda is None or sys.platform != "linux",
    reason="reads the libraries of a CUDA build",
)
def test_the_binaries_hold_the_other_messages():
    """They need a GPU."""
    library = Path(torch.__file__).parent / "lib/libtorch_cuda.so"
    with library.open("rb") as file:
        binary = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        for start, text in (
            ("GET was", "GET was unable to find an engine to execute this computation"),
            ("FIND was", "FIND was unable to find an engine to execute this"),
            ("Unable to find", "Unable to find a valid cuDNN algorithm to run conv"),
            ("rnn: hx", "rnn: hx is not contiguous"),
            ("cuDNN Frontend", "cuDNN Frontend error: "),
            (
                "Expected canUse32BitIndexMath(input)",
                "Expected canUse32BitIndexMath(input) && canUse32BitIndexMath(output)"
                " to be true, but got false.",
            ),
            (
                "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED",
                ". This error may appear if you passed in a non-contiguous input.",
            ),
        ):
            assert binary.find(text.encode()) > 0
            assert text in quoted(PAGE, f"RuntimeError: {start}")
