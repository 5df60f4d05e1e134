"""convert-dtype: values against Python and NumPy, errors from the layers."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/convert-dtype"
cast_batch = load_snippet("tensors/convert_dtype.py").cast_batch


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(
    "inputs",
    [
        torch.from_numpy(np.full((2, 4), 0.5)),
        torch.ones(2, 4, dtype=torch.uint8),
        torch.ones(4, 2).half().T,
        torch.zeros(0, 4),
    ],
    ids=repr,
)
def test_inputs_get_the_dtype_of_the_model(inputs, dtype):
    model = nn.Linear(4, 3).to(dtype)
    x, _ = cast_batch(inputs, torch.zeros(len(inputs)), model)
    assert x.dtype == model(x).dtype == dtype
    assert x.tolist() == inputs.tolist()


@pytest.mark.parametrize(
    "labels",
    [
        torch.tensor([0.0, 2.0], dtype=torch.float64),
        torch.tensor([0.0, 2.0], dtype=torch.bfloat16),
        torch.tensor([0, 2], dtype=torch.uint8),
        torch.tensor([0, 2], dtype=torch.uint16),
        torch.tensor([0, -100], dtype=torch.int32),  # ignore_index
        torch.tensor([True, False]),
        torch.zeros(2, 4, 4),  # segmentation
        torch.empty(0),
    ],
    ids=repr,
)
def test_labels_become_int64(labels):
    _, y = cast_batch(torch.ones(2, 4), labels, nn.Linear(4, 3))
    assert y.dtype == torch.int64
    assert y.tolist() == labels.tolist()


@pytest.mark.parametrize("bad", [0.5, 2.9, -0.1, float("nan"), float("inf")])
def test_labels_that_are_not_whole_are_refused(bad):
    with pytest.raises(ValueError, match=r"^Class indices must be whole numbers$"):
        cast_batch(torch.ones(2, 4), torch.tensor([1.0, bad]), nn.Linear(4, 3))


def test_the_first_parameter_decides():
    model = nn.Sequential(nn.Linear(4, 4).double(), nn.Linear(4, 3))
    x, _ = cast_batch(torch.ones(2, 4), torch.zeros(2), model)
    assert x.dtype == torch.float64


def test_the_documented_errors_are_raised():
    double = torch.ones(2, 4, dtype=torch.float64)
    logits, classes = torch.zeros(2, 3), torch.tensor([0, 2])
    with raises_as_documented(PAGE):
        nn.Linear(4, 3)(double)
    with raises_as_documented(PAGE):
        torch.ones(3, 2) @ double
    with raises_as_documented(PAGE):
        nn.Conv1d(2, 3, 1)(double)
    for labels in (classes.float(), classes.int()):
        with pytest.raises(RuntimeError, match=r"^expected target dtype to be Long"):
            F.cross_entropy(logits, labels)
    with raises_as_documented(PAGE):
        F.cross_entropy(logits, classes.float())
    with raises_as_documented(PAGE):
        F.binary_cross_entropy(torch.ones(2), classes)
    with raises_as_documented(PAGE):
        F.binary_cross_entropy_with_logits(torch.ones(2), classes)
    with raises_as_documented(PAGE):
        classes /= 2
    with raises_as_documented(PAGE):
        torch.ones(3)[torch.tensor([1.0])]
    with raises_as_documented(PAGE):
        nn.Embedding(3, 2)(torch.tensor([1.0]))
    with raises_as_documented(PAGE):
        torch.linalg.svd(torch.ones(2, 2).half())
    with raises_as_documented(PAGE):
        torch.tensor([1], requires_grad=True)
    with pytest.raises(RuntimeError, match="could not infer output dtype"):
        classes.mean()


def test_probabilities_stay_floating():
    assert F.cross_entropy(torch.zeros(2, 3), torch.full((2, 3), 1 / 3)) > 0


def test_a_cast_with_nothing_to_do_returns_the_tensor():
    x = torch.ones(2)
    assert x.to(torch.float32) is x
    assert x.to(torch.float16) is not x
    assert x.dtype == torch.float32


def test_gradients_pass_floating_casts_only():
    x = torch.ones(2, requires_grad=True)
    (x.half() * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert x.grad.dtype == torch.float32
    assert not x.long().requires_grad


def test_promotion_agrees_with_numpy_where_it_has_the_types():
    for a, b in [("int8", "uint8"), ("float32", "float64"), ("int32", "int64")]:
        expected = np.promote_types(a, b).name
        promoted = torch.promote_types(getattr(torch, a), getattr(torch, b))
        assert str(promoted) == f"torch.{expected}"
    # Here they differ: NumPy would go to float64.
    assert torch.promote_types(torch.int64, torch.float16) == torch.float16


def test_values_that_do_not_fit():
    assert torch.tensor([300, -1]).to(torch.uint8).tolist() == [44, 255]
    assert torch.tensor([2.9, -2.9]).to(torch.int64).tolist() == [2, -2]
    wide = torch.tensor([300.0, -1.0, 2.9])
    assert wide.round().clamp(0, 255).to(torch.uint8).tolist() == [255, 0, 3]
    assert torch.finfo(torch.float16).max == 65504
    assert torch.tensor([65504.0, 70000.0]).half().tolist() == [65504, torch.inf]
    assert torch.tensor(257.0).bfloat16().item() == 256
    assert torch.finfo(torch.bfloat16).max > 3.3e38
    assert torch.iinfo(torch.uint8).max == 255


def test_uint8_wraps_as_in_numpy():
    a, b = np.array([200], np.uint8), np.array([100], np.uint8)
    total = torch.from_numpy(a) + torch.from_numpy(b)
    assert total.tolist() == (a + b).tolist() == [44]
    assert (torch.from_numpy(a) + 100).tolist() == [44]
    assert (torch.tensor([1], dtype=torch.uint8) - 2).tolist() == [255]
    assert torch.tensor([200, 100], dtype=torch.uint8).sum().item() == 300


def test_division():
    assert (torch.tensor([-7]) // 2).tolist() == [-7 // 2] == [-4]
    half = torch.tensor([7]) / 2
    assert (half.dtype, half.tolist()) == (torch.float32, [3.5])


def test_moves_and_casts():
    x, u = torch.ones(2), torch.ones(1, dtype=torch.float16, device="meta")
    for like in (x.to(u), x.type_as(u)):
        assert (like.dtype, like.device) == (u.dtype, u.device)
    assert x.double().cpu().dtype == torch.float64
    both = x.to("cpu", torch.float64, non_blocking=True)
    assert both.dtype == torch.float64


def test_a_model_is_cast_in_place_except_for_its_integers():
    model = nn.BatchNorm1d(2)
    model.to(torch.bfloat16)
    dtypes = {name: value.dtype for name, value in model.state_dict().items()}
    assert dtypes.pop("num_batches_tracked") == torch.int64
    assert set(dtypes.values()) == {torch.bfloat16}
    assert len(dtypes) == 4
