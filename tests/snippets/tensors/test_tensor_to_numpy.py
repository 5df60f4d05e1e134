"""tensor-to-numpy: values against Python lists, memory against pointers."""

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet, raises_as_documented

to_numpy = load_snippet("tensors/tensor_to_numpy.py").to_numpy


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(3.5),  # 0-dim
        torch.empty(0, 4),
        torch.arange(6).reshape(2, 3).T,  # not contiguous
        torch.tensor([1, -2], dtype=torch.int8),
        torch.tensor([True, False]),
        torch.tensor([1.5, -2.0], dtype=torch.bfloat16, requires_grad=True),
        torch.tensor([1 + 2j]).conj(),
        torch.tensor([1 + 2j]).conj().imag,  # negative bit
        torch.tensor([1.0, 2.0], requires_grad=True) * 2,  # not a leaf
    ],
    ids=repr,
)
def test_values_and_shape_survive(tensor):
    array = to_numpy(tensor)
    assert array.shape == tuple(tensor.shape)
    assert array.tolist() == tensor.tolist()


def test_memory_is_shared_except_for_bfloat16():
    tensor = torch.zeros(3)
    assert to_numpy(tensor).ctypes.data == tensor.data_ptr()
    half = torch.zeros(3, dtype=torch.bfloat16)
    to_numpy(half)[0] = 1
    assert half.tolist() == [0, 0, 0]


def test_every_bfloat16_value_is_kept_exactly():
    bits = torch.arange(-(2**15), 2**15).to(torch.int16)
    # A bfloat16 is the upper half of a float32: widen the bits in NumPy.
    expected = (bits.numpy().astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_array_equal(to_numpy(bits.view(torch.bfloat16)), expected)


def test_the_documented_errors_are_what_plain_numpy_raises():
    page = "tensors/tensor-to-numpy"
    with raises_as_documented(page):
        torch.ones(1, requires_grad=True).numpy()
    with raises_as_documented(page):
        torch.ones(1, dtype=torch.bfloat16).numpy(force=True)
    sparse = torch.eye(2).to_sparse()
    with raises_as_documented(page):
        sparse.numpy(force=True)
    assert to_numpy(sparse.to_dense()).tolist() == [[1, 0], [0, 1]]
    with pytest.raises(TypeError) as caught:  # what a GPU says, its name apart
        torch.ones(2, device="meta").numpy()
    with raises_as_documented(page):
        raise TypeError(str(caught.value).replace("meta", "cuda:0"))
