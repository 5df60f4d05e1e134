"""dlpack-zero-copy: addresses, lifetimes, and what is refused."""

import gc
import weakref

import numpy as np
import pytest
import torch
from torch.utils.dlpack import to_dlpack

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/dlpack-zero-copy"


@pytest.fixture
def array():
    return np.arange(6, dtype=np.float32)


def test_the_answer_runs_where_from_dlpack_takes_nothing_else(array, monkeypatch):
    """Before PyTorch 2.9, `copy=True` was a TypeError."""
    call = torch.from_dlpack
    monkeypatch.setattr(torch, "from_dlpack", lambda ext_tensor: call(ext_tensor))
    names = {"array": array}
    exec(answer("dlpack-zero-copy"), names)
    assert names["own"].data_ptr() != array.ctypes.data


def test_the_snippet():
    snippet = load_snippet("tensors/dlpack_zero_copy.py")
    assert snippet.x.tolist() == [1, 1, 1, 1]
    assert snippet.array.tolist() == snippet.back.tolist() == [1, 1, 1, 1]
    assert snippet.own.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("dtype", [np.float16, np.int64, np.bool_])
def test_the_answer_for_a_table_with_a_step(dtype):
    array = np.arange(12).reshape(3, 4).astype(dtype)[:, ::2]
    names = {"array": array}
    exec(answer("dlpack-zero-copy"), names)
    x, back, own = (names[name] for name in ("x", "back", "own"))
    assert x.data_ptr() == back.ctypes.data == array.ctypes.data != own.data_ptr()
    for made in (x, back, own):
        assert made.tolist() == array.tolist()


def test_the_memory_is_shared_unless_copied(array):
    x = torch.from_dlpack(array)
    assert x.data_ptr() == array.ctypes.data
    assert np.from_dlpack(x).ctypes.data == array.ctypes.data
    x[0] = 9
    assert array[0] == 9
    array[1] = 8
    assert x[1] == 8
    own = torch.from_dlpack(array, copy=True)
    assert own.data_ptr() != array.ctypes.data
    assert torch.equal(own, x)
    own = torch.from_dlpack(array).clone()  # as before PyTorch 2.9
    assert own.data_ptr() != array.ctypes.data
    assert torch.equal(own, x)
    assert torch.from_numpy(array).data_ptr() == x.data_ptr()


def test_shapes_strides_and_dtypes():
    table = np.ones((4, 6))[:, ::2]
    x = torch.from_dlpack(table)
    assert x.stride() == (6, 2)
    for dtype in (torch.bool, torch.uint16, torch.int64, torch.half, torch.complex64):
        x = torch.ones(3, dtype=dtype)
        assert torch.from_dlpack(np.from_dlpack(x)).dtype == dtype


def test_the_memory_lives_as_long_as_it_is_used():
    class Owner(np.ndarray):  # a plain array takes no weak reference
        pass

    array = np.arange(1000.0).view(Owner)
    owner = weakref.ref(array)
    x = torch.from_dlpack(array)
    del array
    gc.collect()
    assert owner() is not None
    assert x.sum() == 499500
    del x
    gc.collect()
    assert owner() is None


def test_a_tensor_that_requires_grad():
    weight = torch.nn.Linear(3, 2).weight
    with raises_as_documented(PAGE, "BufferError: Can't export tensors that"):
        np.from_dlpack(weight)
    assert np.from_dlpack(weight.detach()).ctypes.data == weight.data_ptr()


def test_a_read_only_array_is_written_to(array):
    array.flags.writeable = False
    x = torch.from_dlpack(array)  # without a warning
    x += 1
    assert array[0] == 1
    clone = x.clone()
    clone += 1
    assert array[0] == 1


def test_what_is_refused(array):
    for other in ([1.0, 2.0], 3.0):
        with raises_as_documented(PAGE, "RuntimeError: from_dlpack received"):
            torch.from_dlpack(other)
    capsule = to_dlpack(torch.ones(3))
    torch.from_dlpack(capsule)
    with raises_as_documented(PAGE, "RuntimeError: from_dlpack received"):
        torch.from_dlpack(capsule)
    for dtype in (torch.bfloat16, torch.float8_e4m3fn):
        x = torch.ones(3).to(dtype)
        with raises_as_documented(PAGE, "RuntimeError: Unsupported dtype"):
            np.from_dlpack(x)
        assert np.from_dlpack(x.float()).dtype == np.float32
    big = array.astype(">f4")
    with raises_as_documented(PAGE, "BufferError: DLPack only supports native"):
        torch.from_dlpack(big)
    native = big.astype(big.dtype.newbyteorder("="))
    assert torch.equal(torch.from_dlpack(native), torch.from_dlpack(array))
    conj = torch.ones(3, dtype=torch.complex64).conj()
    with raises_as_documented(PAGE, "BufferError: Can't export tensors with"):
        np.from_dlpack(conj)
    assert np.from_dlpack(conj.resolve_conj()).shape == (3,)


@pytest.mark.skipif(torch.__version__ < "2.14", reason="Python aborts there")
def test_a_reversed_array(array):
    with raises_as_documented(PAGE, "RuntimeError: Storage size"):
        torch.from_dlpack(array[::-1])
    assert torch.from_dlpack(array[::-1].copy())[0] == 5
