"""err-numpy-conversion: values by hand, each cause raised; meta stands for a GPU."""

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score
from torch import nn

from tests.helpers import load_snippet, quoted, raises_as_documented, recipes

PAGE = "errors/err-numpy-conversion"
snippet = load_snippet("errors/err_numpy_conversion.py")


def test_the_fixes_give_the_values_in_float32():
    expected = {"array": [1, 2], "wide": [1, 2]}
    for name, values in expected.items():
        array = getattr(snippet, name)
        np.testing.assert_array_equal(array, np.float32(values), strict=True)
    assert snippet.x.grad.tolist() == [1, 2]
    assert snippet.loss.item() == 1 + 4


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.int64])
def test_the_answer_converts_a_result_of_another_dtype(dtype):
    x = torch.ones(2, 3, dtype=dtype, requires_grad=dtype.is_floating_point) * 2
    names = {"x": x}
    exec(recipes()["err-numpy-conversion"].answer.text, names)
    assert names["array"].tolist() == [[2] * 3] * 2
    assert str(names["array"].dtype) == str(dtype).removeprefix("torch.")


def test_a_list_of_losses():
    curve = torch.stack([grad().sum(), grad().prod()]).numpy(force=True)
    np.testing.assert_array_equal(curve, np.float32([4, 4]), strict=True)


def grad():
    return torch.ones(2, requires_grad=True) * 2


@pytest.mark.parametrize(
    "convert",
    [
        lambda: grad().numpy(),
        lambda: np.array([grad().sum(), grad().sum()]),  # plt.plot(losses)
        lambda: np.concatenate([grad(), grad()]),
        lambda: np.sqrt(grad()),
        lambda: grad() * np.ones(2),
        lambda: grad().cpu().numpy(),  # .cpu() alone is not enough
    ],
)
def test_a_tensor_with_a_gradient(convert):
    with raises_as_documented(
        PAGE, "RuntimeError: Can't call numpy() on Tensor that requires"
    ):
        convert()


@pytest.mark.parametrize(
    "convert",
    [
        lambda x: x.numpy(),
        lambda x: np.ones(2)[x > 0],  # an index from a GPU
        lambda x: accuracy_score([0, 1], x),
        lambda x: np.array([x, x]),
    ],
)
def test_a_tensor_elsewhere(convert):
    with pytest.raises(TypeError) as caught:  # the same, but for the device's name
        convert(torch.ones(2, device="meta"))
    raised = f"TypeError: {caught.value}".replace("meta", "cuda:0")
    assert raised.startswith(quoted(PAGE, "TypeError: can't convert cuda:0"))


def test_an_index_from_the_cpu_works():
    assert np.array([3, 4])[torch.tensor([False, True])].tolist() == [4]


def test_a_dtype_that_numpy_lacks():
    x = torch.ones(2, dtype=torch.bfloat16)
    with raises_as_documented(PAGE, "TypeError: Got unsupported ScalarType"):
        x.numpy(force=True)
    assert x.tolist() == [1, 1]
    assert x.half().numpy().dtype == np.float16


def test_cpu_returns_a_new_tensor_and_leaves_the_old_one():
    x = torch.ones(2, requires_grad=True)
    x.detach()
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()


def test_a_loss_by_way_of_numpy_has_no_gradient():
    model = nn.Linear(2, 1)
    loss = torch.from_numpy(model(torch.ones(1, 2)).numpy(force=True)).mean()
    assert not loss.requires_grad


def test_the_neighbouring_messages():
    with raises_as_documented(PAGE, "TypeError: mean() got an unexpected"):
        np.mean(torch.ones(2))
    with raises_as_documented(PAGE, "AttributeError: 'numpy.ndarray' object has"):
        np.ones(2).cpu()
    with raises_as_documented(PAGE, "TypeError: unsupported operand type(s)"):
        np.ones(2) * grad()
    with raises_as_documented(PAGE, "NotImplementedError: Cannot copy out of meta"):
        torch.ones(2, device="meta").numpy(force=True)
    conjugate = torch.tensor([1 + 2j]).conj()
    with raises_as_documented(
        PAGE, "RuntimeError: Can't call numpy() on Tensor that has"
    ):
        conjugate.numpy()
    assert conjugate.numpy(force=True).tolist() == [1 - 2j]
