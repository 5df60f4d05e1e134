"""tf32-precision: the rounding against NumPy's frexp; the switches read back."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.helpers import assert_documented, load_snippet, recipes

SNIPPET = "performance/tf32_precision.py"
PAGE = "performance/tf32-precision"


@pytest.fixture(autouse=True)
def restored():
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    yield
    torch.set_float32_matmul_precision(before[0])
    torch.backends.cudnn.allow_tf32 = before[1]


def rounded(x):
    """To 10 bits after the point: the 11th decides, a half goes away from 0."""
    mantissa, exponent = np.frexp(x.numpy().astype(np.float64))
    steps = np.abs(mantissa) * 2**11  # from 2**10 to 2**11
    return np.sign(mantissa) * np.floor(steps + 0.5) * 2.0 ** (exponent - 11)


def test_the_switches():
    exec(recipes()["tf32-precision"].answer.text, {})
    assert torch.get_float32_matmul_precision() == "high"
    assert torch.backends.cuda.matmul.allow_tf32
    assert torch.backends.cudnn.allow_tf32  # convolutions: the default
    load_snippet(SNIPPET)
    assert torch.get_float32_matmul_precision() == "highest"
    assert not torch.backends.cuda.matmul.allow_tf32


def test_the_rounding_and_its_error(capsys):
    found = load_snippet(SNIPPET)
    torch.manual_seed(0)
    assert torch.equal(found.a, torch.randn(256, 256))
    for x, low in ((found.a, found.a_tf32), (found.b, found.b_tf32)):
        assert low.dtype == torch.float32
        np.testing.assert_array_equal(low.numpy(), rounded(x))
        assert (x != low).float().mean() > 0.9
    exact = found.a.numpy().astype(np.float64) @ found.b.numpy().astype(np.float64)
    product = rounded(found.a) @ rounded(found.b)
    relative = np.abs(product - exact).max() / np.abs(exact).mean()
    assert capsys.readouterr().out.splitlines() == [
        "high for matrix products, and",
        "for convolutions TF32: True",
        f"{found.a[0, 0]:.7f} becomes {rounded(found.a)[0, 0]:.7f}",
        f"largest error of a product: {relative:.1e}, in float32 below 1e-5",
    ]
    # far above float32's
    plain = (found.a @ found.b).numpy()
    assert relative > 30 * np.abs(plain - exact).max() / np.abs(exact).mean()


def test_a_word_of_the_range_is_kept():
    x = torch.tensor([3e38, 1e-37, 1.0, 1 + 2**-10, 1 + 2**-12])
    low = ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)
    np.testing.assert_array_equal(low.numpy(), rounded(x))
    assert low[2:].tolist() == [1, 1 + 2**-10, 1]


def test_medium_is_high_for_cuda():
    for word in ("high", "medium"):
        torch.set_float32_matmul_precision(word)
        assert torch.backends.cuda.matmul.allow_tf32
    torch.set_float32_matmul_precision("highest")
    assert not torch.backends.cuda.matmul.allow_tf32


def test_the_advice_of_torch_compile():
    """Looked up: it needs a GPU. A warning up to 2.13, since 2.14 a line in a log."""
    file = Path(torch.__file__).parent / "_inductor/compile_fx.py"
    source = re.sub(r'"\n\s+"', "", file.read_text("utf-8"))
    (text,) = re.findall(r'"(TensorFloat32 tensor cores .*)"', source)
    assert_documented(PAGE, "UserWarning: TensorFloat32", f"UserWarning: {text}")


CHILD = """
import torch
b = torch.backends
precision = torch.get_float32_matmul_precision()
print(precision, b.cuda.matmul.allow_tf32, b.cudnn.allow_tf32)
torch.set_float32_matmul_precision("tf32")
print(torch.get_float32_matmul_precision())
b.cuda.matmul.fp32_precision = "tf32"
b.cudnn.conv.fp32_precision = "ieee"
print(b.cuda.matmul.fp32_precision, b.cudnn.conv.fp32_precision)
for attempt in (
    lambda: b.cudnn.allow_tf32,
    lambda: setattr(b.cuda.matmul, "fp32_precision", "high"),
):
    try:
        attempt()
    except RuntimeError as error:
        print("RuntimeError:", error)
"""


def test_defaults_wrong_words_and_the_new_switches():
    """What mixes the old and the new switches, in a process of its own."""
    command = [sys.executable, "-c", CHILD]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = found.stdout.splitlines()
    assert lines[:3] == ["highest False True", "highest", "tf32 ieee"]
    assert_documented(PAGE, "RuntimeError: PyTorch is checking", lines[3])
    assert_documented(PAGE, "RuntimeError: Unknown precision", lines[4])
    _, _, message = found.stderr.partition("UserWarning: ")
    assert_documented(PAGE, "UserWarning: tf32", f"UserWarning: {message}")
