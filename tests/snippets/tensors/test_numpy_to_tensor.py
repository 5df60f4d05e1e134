"""numpy-to-tensor: values against NumPy, memory against pointers."""

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet, raises_as_documented

to_tensor = load_snippet("tensors/numpy_to_tensor.py").to_tensor
PAGE = "tensors/numpy-to-tensor"


def read_only() -> np.ndarray:
    array = np.arange(3.0)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "array",
    [
        np.array(3.5),  # 0-dim
        np.empty((0, 4), np.float32),
        np.arange(6)[::-1],
        np.flip(np.arange(24).reshape(2, 3, 4)),
        np.arange(12, dtype=np.uint8).reshape(2, 2, 3)[..., ::-1],
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.broadcast_to(np.arange(3), (2, 3)),
        np.zeros(3, dtype=[("x", "u1"), ("y", "f4")])["y"],  # unaligned
        np.array([1.5, -2.0], dtype=">f4"),
        np.array([1, 2], dtype=">i8")[::-1],
        np.array([1 + 2j]),
        np.array([True, False]),
        np.arange(3, dtype=np.uint16),
        read_only(),
    ],
    ids=repr,
)
def test_every_numeric_array_becomes_an_independent_tensor(array):
    tensor = to_tensor(array)
    expected = array.tolist()
    assert tensor.tolist() == expected
    assert tuple(tensor.shape) == array.shape
    assert tensor.is_contiguous()
    assert str(tensor.dtype) == f"torch.{array.dtype.name}"
    tensor.zero_()
    assert array.tolist() == expected


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_dtype(dtype):
    tensor = to_tensor(np.array([1.0, -2.0])[::-1], dtype)
    assert tensor.dtype == dtype
    assert tensor.tolist() == [-2, 1]
    same = np.ones(2, np.float32)
    to_tensor(same, torch.float32)[0] = 5  # a copy, though nothing was to convert
    assert same.tolist() == [1, 1]


def test_aliasing_depends_on_the_dtype():
    for dtype, shared in [(np.float64, False), (np.float32, True)]:
        array = np.zeros(2, dtype)
        for tensor in [
            torch.from_numpy(array).float(),
            torch.as_tensor(array, dtype=torch.float32),
            torch.Tensor(array),
        ]:
            assert (tensor.data_ptr() == array.ctypes.data) == shared
        assert torch.from_numpy(array).data_ptr() == array.ctypes.data
        assert torch.tensor(array).data_ptr() != array.ctypes.data


@pytest.mark.parametrize("convert", [torch.from_numpy, torch.tensor, torch.as_tensor])
def test_the_documented_errors(convert):
    flipped = [np.zeros((2, 2, 3))[..., ::-1], np.zeros(3)[::-1], np.flip(np.ones(2))]
    for array in flipped:
        with raises_as_documented(PAGE):
            convert(array)
    with raises_as_documented(PAGE):
        convert(np.zeros(2, ">f4").copy())


def test_the_other_documented_errors():
    with raises_as_documented(PAGE):
        torch.nn.Linear(3, 1)(to_tensor(np.zeros((2, 3))))
    with raises_as_documented(PAGE):
        to_tensor(np.array([[1], [1, 2]], dtype=object))
    for array in [np.array(["a"]), np.zeros(1, "datetime64[s]")]:
        with pytest.raises(TypeError, match="can't convert np"):
            to_tensor(array)
    ragged = np.array(["1", "2"], dtype=object).astype(np.float32)
    assert to_tensor(ragged).tolist() == [1, 2]


@pytest.fixture
def always_warn():
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


@pytest.mark.usefixtures("always_warn")
def test_a_read_only_array_is_warned_of_but_not_by_dlpack():
    array = np.frombuffer(b"123", np.uint8)
    for convert in (torch.from_numpy, torch.as_tensor):
        with raises_as_documented(PAGE):  # an error, as every warning in the tests
            convert(array)
    assert torch.from_dlpack(array).tolist() == to_tensor(array).tolist()


def test_where_read_only_arrays_come_from(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(2))
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert not mapped.flags.writeable
    assert to_tensor(mapped).tolist() == [0, 0]


def test_a_list_of_arrays():
    arrays = [np.zeros(2), np.ones(2)]
    with pytest.warns(UserWarning, match="extremely slow"):
        slow = torch.tensor(arrays)
    assert torch.equal(torch.from_numpy(np.stack(arrays)), slow)
