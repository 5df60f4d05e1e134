"""tensor-info: what is printed against NumPy; conditions and errors of the page."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/tensor-info"


def strides(array):
    """Counted in elements, as torch does."""
    return tuple(step // array.itemsize for step in array.strides)


def test_numpy_agrees_on_every_line_printed(capsys):
    load_snippet("tensors/tensor_info.py")
    rows = np.zeros((8, 3, 4, 5), np.float32)
    pixels = np.zeros((8, 4, 5, 3), np.float32).transpose(0, 3, 1, 2)
    assert capsys.readouterr().out.splitlines() == [
        f"torch.Size({list(rows.shape)}) torch.{rows.dtype} cpu",
        f"{rows.ndim} {rows.size} False",
        f"{strides(rows)} {rows.flags.c_contiguous}",
        f"{pixels.shape == rows.shape} {strides(pixels)} {pixels.flags.c_contiguous}",
    ]


def test_the_names_belong_to_the_dimensions():
    snippet = load_snippet("tensors/tensor_info.py")
    assert (snippet.N, snippet.C, snippet.H, snippet.W) == (8, 3, 4, 5)


def test_a_size_is_a_tuple():
    x = torch.zeros(2, 3, 4)
    assert isinstance(x.shape, tuple)
    assert x.shape == x.size() == (2, 3, 4)
    assert (*x.shape[:1], 4) == (2, 4)


@pytest.mark.parametrize(
    ("wrong", "start"),
    [
        (lambda x: x.size[0], "TypeError: 'builtin_function_or_method' object"),
        (lambda x: x.shape(), "TypeError: 'torch.Size' object"),
        (lambda x: len(x.sum()), "TypeError: len() of"),
    ],
)
def test_the_documented_errors_are_raised(wrong, start):
    with raises_as_documented(PAGE, start):
        wrong(torch.zeros(2, 3))
    assert torch.zeros(2, 3).sum().numel() == 1


def test_what_is_an_attribute_and_what_a_method():
    x = torch.zeros(2, 3)
    for name in ("dtype", "device", "ndim", "nbytes", "requires_grad", "shape"):
        assert not callable(getattr(x, name))
    for name in ("stride", "numel", "dim", "is_contiguous", "size"):
        assert callable(getattr(x, name))


def test_conditions_that_are_always_true_or_never():
    x = torch.zeros(2, 3)
    assert x.T.is_contiguous  # the method, not its answer
    assert not x.T.is_contiguous()
    assert x.dtype != "float32"
    assert x.device != "cpu"
    assert x.shape != [2, 3]
    assert x.dtype == torch.float32
    assert x.device.type == "cpu"
    assert x.shape == (2, 3)


def test_the_legacy_type_is_one_device_and_one_dtype():
    x = torch.zeros(2)
    assert x.type() == "torch.FloatTensor"
    assert isinstance(x, torch.FloatTensor)
    assert not isinstance(x, torch.cuda.FloatTensor)
    assert not isinstance(x.double(), torch.FloatTensor)
    assert x.double().is_floating_point()


def test_a_reshape_scrambles_an_image():
    image = torch.arange(24).view(2, 4, 3)  # (H, W, C)
    assert image.permute(2, 0, 1)[0].tolist() == image[..., 0].tolist()
    assert image.reshape(3, 2, 4)[0].tolist() != image[..., 0].tolist()


def test_bytes():
    expanded = torch.zeros(1).expand(1000)
    assert (expanded.nbytes, expanded.untyped_storage().nbytes()) == (4000, 4)
    row = torch.zeros(3, 4)[:1]
    assert (row.nbytes, row.untyped_storage().nbytes()) == (16, 48)


def test_the_other_variants():
    low, high = torch.aminmax(torch.tensor([[3.0, -1.0], [2.0, 7.0]]))
    assert (low.item(), high.item()) == (-1, 7)
    assert not torch.tensor([1.0, torch.nan]).isfinite().all()
    shapes = [(n, tuple(p.shape)) for n, p in nn.Linear(3, 2).named_parameters()]
    assert shapes == [("weight", (2, 3)), ("bias", (2,))]
    try:
        assert "..." in str(torch.zeros(2000))
        torch.set_printoptions(profile="full")
        assert "..." not in str(torch.zeros(2000))
    finally:
        torch.set_printoptions(profile="default")
