"""tensor-info: lines worked out by hand, strides against NumPy."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/tensor-info"
describe = load_snippet("tensors/tensor_info.py").describe


@pytest.mark.parametrize(
    ("tensor", "line"),
    [
        (torch.tensor(3.5), "(), torch.float32 on cpu, stride (), contiguous"),
        (
            torch.zeros(0, 4, dtype=torch.int64),
            "(0, 4), torch.int64 on cpu, stride (4, 1), contiguous",
        ),
        (torch.ones(5) > 0, "(5,), torch.bool on cpu, stride (1,), contiguous"),
        (
            torch.ones(2, 1).expand(2, 3),
            "(2, 3), torch.float32 on cpu, stride (1, 0), not contiguous",
        ),
        (
            nn.Parameter(torch.ones(2, 3).half()).T,
            "(3, 2), torch.float16 on cpu, stride (1, 3), not contiguous, "
            "requires grad",
        ),
        (
            torch.empty(2, 3, device="meta"),
            "(2, 3), torch.float32 on meta, stride (3, 1), contiguous",
        ),
    ],
    ids=repr,
)
def test_the_line(tensor, line):
    assert describe(tensor) == line


def test_numpy_agrees_on_the_layout():
    tensor = torch.zeros(2, 3, 4, 5)[:, ::2].permute(0, 2, 3, 1)
    array = tensor.numpy()
    assert tuple(tensor.shape) == array.shape
    assert tensor.ndim == array.ndim
    assert tensor.numel() == array.size
    assert tensor.nbytes == array.nbytes
    strides = tuple(step // array.itemsize for step in array.strides)
    assert f"stride {strides}, not contiguous" in describe(tensor)
    assert not array.flags.c_contiguous


def test_a_size_is_a_tuple():
    x = torch.zeros(2, 3, 4)
    B, T, C = x.shape
    assert isinstance(x.shape, tuple)
    assert (B, T, C) == x.shape == x.size() == (2, 3, 4)
    assert (*x.shape[:1], 4) == (2, 4)


def test_the_documented_errors_are_raised():
    x = torch.zeros(2, 3)
    with raises_as_documented(PAGE):
        x.size[0]
    with raises_as_documented(PAGE):
        x.shape()
    with raises_as_documented(PAGE):
        len(torch.tensor(1.0))
    assert torch.tensor(1.0).numel() == 1


def test_conditions_that_are_always_true_or_never():
    x = torch.zeros(2, 3)
    assert x.T.is_contiguous  # the method, not its answer
    assert not x.T.is_contiguous()
    assert x.dtype != "float32"
    assert x.device != "cpu"
    assert x.shape != [2, 3]
    assert x.dtype == torch.float32
    assert x.device.type == "cpu"


def test_the_legacy_type_is_one_device_and_one_dtype():
    x = torch.zeros(2)
    assert x.type() == "torch.FloatTensor"
    assert isinstance(x, torch.FloatTensor)
    assert not isinstance(x, torch.cuda.FloatTensor)
    assert not isinstance(x.double(), torch.FloatTensor)
    assert x.double().is_floating_point()


def test_channels_last_keeps_the_shape():
    x = torch.zeros(8, 3, 4, 5)
    y = x.to(memory_format=torch.channels_last)
    assert y.shape == x.shape
    assert y.stride() == x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2).stride()


def test_nbytes_and_the_memory_in_use():
    expanded = torch.zeros(1).expand(1000)
    assert (expanded.nbytes, expanded.untyped_storage().nbytes()) == (4000, 4)
    row = torch.zeros(3, 4)[:1]
    assert (row.nbytes, row.untyped_storage().nbytes()) == (16, 48)


def test_the_variants():
    low, high = torch.aminmax(torch.tensor([[3.0, -1.0], [2.0, 7.0]]))
    assert (low.item(), high.item()) == (-1, 7)
    assert not torch.tensor([1.0, torch.nan]).isfinite().all()
    lines = [describe(p) for _, p in nn.Linear(3, 2).named_parameters()]
    assert lines == [
        "(2, 3), torch.float32 on cpu, stride (3, 1), contiguous, requires grad",
        "(2,), torch.float32 on cpu, stride (1,), contiguous, requires grad",
    ]
