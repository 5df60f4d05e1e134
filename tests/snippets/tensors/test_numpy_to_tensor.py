"""numpy-to-tensor: values against NumPy, memory by writing and by pointer."""

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/numpy-to-tensor"
snippet = load_snippet("tensors/numpy_to_tensor.py")


def test_values_and_dtypes_equal_numpy():
    before = np.arange(6.0).reshape(2, 3)
    after = before.copy()
    after[0, 0] = 9
    for tensor, expected in [
        (snippet.shared, after),
        (snippet.x, before.astype(np.float32)),
        (snippet.own, before),
        (snippet.flipped, np.flipud(before)),
    ]:
        np.testing.assert_array_equal(tensor.numpy(), expected, strict=True)
    np.testing.assert_array_equal(snippet.array, after, strict=True)


def test_only_the_shared_tensor_has_the_memory_of_the_array():
    snippet = load_snippet("tensors/numpy_to_tensor.py")  # one to write to
    assert snippet.shared.data_ptr() == snippet.array.ctypes.data
    snippet.shared[1, 2] = -1
    assert snippet.array[1, 2] == -1
    for tensor in (snippet.x, snippet.own, snippet.flipped):
        assert -1 not in tensor


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.bool_])
def test_the_answer_for_a_slice_of_another_dtype(dtype):
    array = np.arange(12).reshape(3, 4).astype(dtype)[1:, ::2]
    names = {"array": array}
    exec(answer("numpy-to-tensor"), names)
    assert names["x"].dtype == torch.float32
    for name in ("shared", "x", "own"):
        np.testing.assert_array_equal(names[name].numpy(), array)
    np.testing.assert_array_equal(names["flipped"], np.flipud(array))
    assert names["shared"].data_ptr() == array.ctypes.data != names["own"].data_ptr()


def test_the_answer_for_a_signal_of_one_dimension():
    names = {"array": np.array([1.0, 2.0, 3.0])}
    exec(answer("numpy-to-tensor"), names)
    assert names["flipped"].tolist() == [3, 2, 1]


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
        own = torch.tensor(array, dtype=torch.float32)
        assert own.data_ptr() != array.ctypes.data


@pytest.mark.parametrize("convert", [torch.from_numpy, torch.tensor, torch.as_tensor])
@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 2, 3))[..., ::-1],
        np.zeros(3)[::-1],
        np.flip(np.ones(2)),
        np.rot90(np.ones((2, 2))),
    ],
)
def test_flipped_arrays_are_refused_until_they_are_copied(convert, array):
    with raises_as_documented(PAGE, "ValueError: At least one") as caught:
        convert(array)
    assert "stride" in str(caught.value)
    assert convert(array.copy()).tolist() == array.tolist()


def test_flipping_the_tensor_is_the_same():
    array = np.arange(6).reshape(2, 3)
    flipped = torch.flip(torch.from_numpy(array), dims=[1])
    assert flipped.tolist() == array[:, ::-1].tolist()


def test_a_layer_wants_float32():
    x = np.zeros((2, 3))
    with raises_as_documented(PAGE, "RuntimeError: mat1 and mat2") as caught:
        torch.nn.Linear(3, 1)(torch.from_numpy(x))
    assert "mat1 and mat2" in str(caught.value)
    assert torch.nn.Linear(3, 1)(torch.from_numpy(x).float()).shape == (2, 1)


def test_strings_dates_and_ragged_data():
    with raises_as_documented(PAGE, "TypeError: can't convert np.ndarray") as caught:
        torch.from_numpy(np.array([[1], [1, 2]], dtype=object))
    assert "numpy.object_" in str(caught.value)
    for array in [np.array(["a"]), np.zeros(1, "datetime64[s]")]:
        with pytest.raises(TypeError, match="can't convert np"):
            torch.from_numpy(array)
    column = np.array(["1", "2"], dtype=object).astype(np.float32)
    assert torch.from_numpy(column).tolist() == [1, 2]


def test_the_messages_of_the_table():
    with raises_as_documented(PAGE, "TypeError: expected np.ndarray (got"):
        torch.from_numpy([1, 2])
    with raises_as_documented(PAGE, "AttributeError: 'numpy.ndarray' object has"):
        np.ones(2).unsqueeze(0)
    big = np.array([1.5, -2.0], ">f4")
    for array in (big, big.copy()):
        with raises_as_documented(PAGE, "ValueError: given numpy array"):
            torch.from_numpy(array)
    native = big.astype(big.dtype.newbyteorder("="))
    assert torch.from_numpy(native).tolist() == [1.5, -2]


@pytest.fixture
def always_warn():
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


@pytest.mark.usefixtures("always_warn")
def test_a_read_only_array_is_warned_of(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(2))
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    arrays = [
        np.frombuffer(b"123", np.uint8),
        mapped,
        np.asarray(Image.new("L", (2, 2))),
    ]
    if int(pd.__version__.split(".")[0]) >= 3:
        arrays += [table.to_numpy(), table["a"].values]
    for array in arrays:
        for convert in (torch.from_numpy, torch.as_tensor):
            with raises_as_documented(
                PAGE, "UserWarning: The given NumPy"
            ) as caught:  # warnings are errors here
                convert(array)
            assert "not writable" in str(caught.value)
        assert torch.tensor(array).tolist() == array.tolist()


@pytest.mark.usefixtures("always_warn")
def test_a_list_of_arrays_is_slow():
    arrays = [np.zeros(2), np.ones(2)]
    with raises_as_documented(PAGE, "UserWarning: Creating a tensor") as caught:
        torch.tensor(arrays)
    assert "extremely slow" in str(caught.value)
    assert torch.from_numpy(np.stack(arrays)).tolist() == [[0, 0], [1, 1]]


def test_an_image_from_opencv():
    bgr = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    image = torch.from_numpy(bgr[..., ::-1].copy()).permute(2, 0, 1).float() / 255
    assert image.shape == (3, 2, 4)
    for channel, source in enumerate((2, 1, 0)):
        expected = bgr[..., source].astype(np.float32) / np.float32(255)
        np.testing.assert_array_equal(image[channel].numpy(), expected, strict=True)


def test_the_mask_of_a_masked_array():
    masked = np.ma.masked_greater(np.array([1.0, 1e20, 3.0]), 1e19)
    assert torch.from_numpy(masked).tolist() == [1, 1e20, 3]  # no mask
    filled = torch.from_numpy(masked.filled(np.nan))
    assert filled.isnan().tolist() == [False, True, False]


def test_scalars_and_lists():
    assert torch.tensor(np.float64(1.5)).item() == 1.5
    assert torch.tensor([[1, 2]]).tolist() == [[1, 2]]
