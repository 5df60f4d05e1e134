"""tensor-vs-tensor: dtypes, memory and gradients of each, what each refuses."""

import warnings

import numpy as np
import pytest
import torch

from tests.chains.pasted import answer
from tests.helpers import ROOT, assert_documented, load_snippet, raises_as_documented

PAGE = "tensors/tensor-vs-tensor"
snippet = load_snippet("tensors/tensor_vs_tensor.py")


def test_what_the_snippet_makes():
    assert snippet.x.dtype == torch.float32
    assert snippet.x.tolist() == snippet.numbers == [1, 2, 3]
    assert snippet.shared.tolist() == [7, 0, 0]
    assert snippet.copied.tolist() == [0, 0, 0]
    assert snippet.zeros.tolist() == [0, 0, 0]
    assert torch.equal(snippet.own, snippet.x)
    assert snippet.own.data_ptr() != snippet.x.data_ptr()
    assert snippet.shared.data_ptr() == snippet.array.ctypes.data


def test_the_table_has_the_lines_of_the_file():
    """Each cell, on both pages, is what the file runs."""
    source = (ROOT / "snippets/tensors/tensor_vs_tensor.py").read_text(encoding="utf-8")
    for language in ("en", "zh"):
        page = (ROOT / f"docs/{language}/{PAGE}.md").read_text(encoding="utf-8")
        rows = page.partition("```python")[0].splitlines()
        cells = [row.split("|")[-2].strip(" `") for row in rows if row.endswith("` |")]
        assert len(cells) == 7
        assert all(cell in source for cell in cells)


@pytest.mark.parametrize("numbers", [3, [True, False], [[1, 2], [3, 4]]])
def test_the_answer_for_one_number_and_for_a_table(numbers):
    names = {"numbers": numbers}
    exec(answer("tensor-vs-tensor"), names)
    assert names["x"].dtype == torch.float32
    assert names["x"].tolist() == numbers


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ([1, 2], torch.int64),
        ([1, 2.5], torch.float32),
        ([True, False], torch.bool),
        ([1j], torch.complex64),
        (np.ones(2), torch.float64),
    ],
)
def test_tensor_takes_the_dtype_of_the_data_and_the_class_float32(data, dtype):
    assert torch.tensor(data).dtype == torch.as_tensor(data).dtype == dtype
    if dtype != torch.complex64:
        assert torch.Tensor(data).dtype == torch.float32


def test_a_number_is_a_size_to_the_class():
    assert torch.Tensor(3).shape == (3,)
    assert torch.Tensor(2, 3).shape == (2, 3)
    assert torch.tensor(3).shape == ()
    assert torch.tensor(3).item() == 3


def test_large_integers_are_rounded():
    assert torch.Tensor([16777217]).long().item() == 16777216
    assert torch.tensor([16777217]).item() == 16777217


def test_copies_and_shares():
    x = torch.ones(2)
    assert torch.as_tensor(x) is x
    assert torch.as_tensor(x, dtype=torch.float64) is not x
    array = np.zeros(2)
    assert torch.as_tensor(array).data_ptr() == array.ctypes.data
    assert torch.as_tensor(array, dtype=torch.float32).dtype == torch.float32
    assert torch.tensor(array).data_ptr() != array.ctypes.data


def test_a_tensor_of_a_tensor_warns():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.tensor(torch.ones(2))
    warned = f"UserWarning: {caught[0].message}"
    assert_documented(PAGE, "UserWarning: To copy construct", warned)


def test_integers_need_a_float_dtype_for_gradients():
    with raises_as_documented(PAGE, "RuntimeError: Only Tensors of floating"):
        torch.tensor([1, 2], requires_grad=True)
    assert torch.tensor([1.0], requires_grad=True).is_leaf


def test_what_is_refused():
    with raises_as_documented(PAGE, "TypeError: tensor() takes 1"):
        torch.tensor(2, 3)
    with raises_as_documented(PAGE, "TypeError: new() received an invalid"):
        torch.Tensor([1], dtype=torch.float32)
    with raises_as_documented(PAGE, "RuntimeError: legacy constructor"):
        torch.Tensor([1], device="cuda")
    with raises_as_documented(PAGE, "RuntimeError: Could not infer dtype of NoneType"):
        torch.tensor([1, None])
    with raises_as_documented(PAGE, "ValueError: too many dimensions"):
        torch.tensor(["a"])
    with raises_as_documented(PAGE, "TypeError: can't convert np.ndarray"):
        torch.tensor(np.array([1, "a"], dtype=object))
