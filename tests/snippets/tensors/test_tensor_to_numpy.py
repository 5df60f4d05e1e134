"""tensor-to-numpy: values against Python lists, memory by writing and by pointer."""

import numpy as np
import pytest
import torch

from tests.chains.pasted import answer
from tests.helpers import load_snippet, quoted, raises_as_documented

PAGE = "tensors/tensor-to-numpy"
snippet = load_snippet("tensors/tensor_to_numpy.py")


def test_two_arrays_are_the_tensor_and_one_is_a_copy():
    assert snippet.x.tolist() == [5, 2]  # written through the array
    for array in (snippet.array, snippet.same):
        assert array.ctypes.data == snippet.x.data_ptr()
        np.testing.assert_array_equal(array, np.float32([5, 2]), strict=True)
    np.testing.assert_array_equal(snippet.kept, np.float32([1, 2]), strict=True)
    np.testing.assert_array_equal(snippet.wide, np.float32([1, 2]), strict=True)
    assert snippet.x.requires_grad
    assert (snippet.half.dtype, snippet.half.requires_grad) == (torch.bfloat16, True)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(3.5),  # 0-dim
        torch.empty(0, 4),
        torch.arange(6).reshape(2, 3).T,  # not contiguous
        torch.tensor([1, -2], dtype=torch.int8),
        torch.tensor([True, False]),
        torch.tensor([1 + 2j]).conj(),
        torch.tensor([1 + 2j]).conj().imag,  # negative bit
        torch.tensor([1.0, 2.0], requires_grad=True) * 2,  # not a leaf
    ],
    ids=repr,
)
def test_force_is_short_for_the_five_steps(tensor):
    array = tensor.numpy(force=True)
    steps = tensor.detach().cpu().resolve_conj().resolve_neg().numpy()
    np.testing.assert_array_equal(array, steps, strict=True)
    assert array.shape == tuple(tensor.shape)
    assert array.tolist() == tensor.tolist()


def test_the_answer_in_training_and_for_one_number():
    weight = torch.ones(2, requires_grad=True)
    for x in (weight * 3, torch.tensor(3.0), torch.ones(2, 3).T * 3):
        names = {"x": x}
        exec(answer("tensor-to-numpy"), names)
        for name in ("array", "kept"):
            assert names[name].shape == tuple(x.shape)
            assert (names[name] == 3).all()
        assert not np.shares_memory(names["kept"], names["array"])


def test_every_bfloat16_value_is_kept_exactly():
    bits = torch.arange(-(2**15), 2**15).to(torch.int16)
    # A bfloat16 is the upper half of a float32: widen the bits in NumPy.
    expected = (bits.numpy().astype(np.uint32) << 16).view(np.float32)
    array = bits.view(torch.bfloat16).float().numpy(force=True)
    np.testing.assert_array_equal(array, expected, strict=True)


def test_an_array_follows_the_optimizer():
    weight = torch.ones(2, requires_grad=True)
    array = weight.numpy(force=True)
    before = array.copy()
    weight.sum().backward()
    torch.optim.SGD([weight], lr=1.0).step()
    assert array.tolist() == weight.tolist() == [0, 0]
    assert before.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("tensor", "start"),
    [
        (torch.ones(1, requires_grad=True), "RuntimeError: Can't call numpy()"),
        (torch.ones(1, dtype=torch.bfloat16), "TypeError: Got unsupported"),
        (torch.eye(2).to_sparse(), "TypeError: can't convert Sparse"),
    ],
)
def test_the_documented_errors_are_raised(tensor, start):
    for convert in (torch.Tensor.numpy, np.asarray):
        with raises_as_documented(PAGE, start):
            convert(tensor)


def test_a_gpu_says_what_the_page_quotes():
    with pytest.raises(TypeError) as caught:  # the same, but for the device's name
        torch.ones(2, device="meta").numpy()
    raised = f"TypeError: {caught.value}".replace("meta", "cuda:0")
    assert raised.startswith(quoted(PAGE, "TypeError: can't convert cuda:0"))


def test_force_does_not_help_with_dtype_and_layout():
    with raises_as_documented(PAGE, "TypeError: Got unsupported"):
        torch.ones(1).bfloat16().numpy(force=True)
    with raises_as_documented(PAGE, "TypeError: can't convert Sparse"):
        torch.eye(2).to_sparse().numpy(force=True)
    with pytest.raises(TypeError, match="unsupported ScalarType Float8"):
        torch.ones(1, dtype=torch.float8_e4m3fn).numpy(force=True)
    dense = torch.eye(2).to_sparse().to_dense().numpy(force=True)
    assert dense.tolist() == [[1, 0], [0, 1]]
    with raises_as_documented(PAGE, "AttributeError: 'Tensor' object has"):
        torch.ones(1).astype(np.float32)


def test_an_image_for_matplotlib():
    x = torch.rand(3, 4, 5, requires_grad=True)
    shown = x.permute(1, 2, 0).numpy(force=True)
    np.testing.assert_array_equal(shown, np.moveaxis(x.numpy(force=True), 0, -1))
    assert shown.shape == (4, 5, 3)


def test_files(tmp_path):
    array = torch.eye(2).numpy(force=True)
    np.save(tmp_path / "x.npy", array)
    np.savetxt(tmp_path / "x.csv", array, delimiter=",")
    assert np.load(tmp_path / "x.npy").tolist() == [[1, 0], [0, 1]]
    table = np.loadtxt(tmp_path / "x.csv", delimiter=",")
    assert table.tolist() == [[1, 0], [0, 1]]


def test_numbers_and_lists_of_any_dtype():
    half = torch.tensor([1.5], dtype=torch.bfloat16, requires_grad=True)
    assert (half.item(), half.tolist()) == (1.5, [1.5])
