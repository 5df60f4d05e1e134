"""convert-dtype: values against NumPy, the dtypes of a model, errors of layers."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/convert-dtype"
snippet = load_snippet("tensors/convert_dtype.py")
CLASSES = torch.tensor([0, 2])


def test_the_dtypes():
    assert snippet.single.dtype == torch.float32
    assert snippet.half.dtype == torch.float16
    assert snippet.bf16.dtype == torch.bfloat16
    assert snippet.y.dtype == torch.int64
    assert snippet.x.dtype == snippet.model.weight.dtype == torch.float32


def test_the_values_are_those_of_numpy():
    x = np.full((2, 4), 0.1)
    np.testing.assert_array_equal(snippet.single, x.astype(np.float32), strict=True)
    np.testing.assert_array_equal(snippet.half, x.astype(np.float16), strict=True)
    np.testing.assert_array_equal(snippet.x, x.astype(np.float32), strict=True)
    # bfloat16 is the upper half of a float32, rounded to the nearest.
    bits = (x.astype(np.float32).view(np.uint32) + 0x8000) & 0xFFFF0000
    np.testing.assert_array_equal(snippet.bf16.float(), bits.view(np.float32))
    assert snippet.y.tolist() == [0, 2]


def test_the_answer_for_a_model_in_bfloat16_and_images_of_bytes():
    model = nn.Linear(3, 2).bfloat16()
    x = torch.tensor([[0, 128, 255]], dtype=torch.uint8)
    names = {"model": model, "x": x, "y": torch.tensor([True])}
    exec(answer("convert-dtype"), names)
    assert names["single"].tolist() == names["bf16"].tolist() == [[0, 128, 255]]
    assert (names["y"].dtype, names["x"].dtype) == (torch.int64, torch.bfloat16)
    assert F.cross_entropy(model(names["x"]), names["y"]).isfinite()


def test_the_loss_equals_float64():
    logits = snippet.x.double() @ snippet.model.weight.double().T
    log_p = (logits + snippet.model.bias.double()).log_softmax(1)
    expected = -log_p[[0, 1], [0, 2]].mean()
    assert snippet.loss.item() == pytest.approx(expected.item(), rel=1e-5)


DOUBLE, FLOATS = torch.ones(2, 4, dtype=torch.float64), torch.tensor([1.0])
LOGITS, HALF = torch.zeros(2, 3), torch.ones(2, 2).half()


@pytest.mark.parametrize(
    ("start", "wrong"),
    {
        "RuntimeError: mat1 and mat2": lambda: nn.Linear(4, 3)(DOUBLE),
        "RuntimeError: Input type": lambda: nn.Conv1d(2, 3, 1)(DOUBLE),
        "RuntimeError: expected target": lambda: F.cross_entropy(
            LOGITS, CLASSES.float()
        ),
        "IndexError: tensors used": lambda: torch.ones(3)[FLOATS],
        'NotImplementedError: "linalg_svd_cpu"': lambda: torch.linalg.svd(HALF),
        "NotImplementedError: mean(): could not": lambda: CLASSES.mean(),
        "RuntimeError: Only Tensors": lambda: torch.tensor([1], requires_grad=True),
    }.items(),
)
def test_the_documented_errors_are_raised(start, wrong):
    with raises_as_documented(PAGE, start):
        wrong()


def test_the_fixes():
    double = torch.ones(2, 4, dtype=torch.float64)
    nn.Linear(4, 3)(double.float())
    nn.Conv1d(2, 3, 1)(double.float())
    torch.ones(1, 3, 2) @ double[None].float()
    F.binary_cross_entropy(torch.ones(2), CLASSES.float().clamp(0, 1))
    nn.Embedding(3, 2)(torch.tensor([1.0]).long())
    torch.linalg.svd(torch.ones(2, 2).half().float())
    assert torch.ones(3)[torch.tensor([1.0]).long()] == 1
    assert torch.tensor([1.0], requires_grad=True).requires_grad
    assert CLASSES.float().mean() == 1


def test_int32_labels_are_refused_and_probabilities_stay_floating():
    with pytest.raises(RuntimeError, match=r"^expected target dtype to be Long"):
        F.cross_entropy(torch.zeros(2, 3), CLASSES.int())
    assert F.cross_entropy(torch.zeros(2, 3), torch.full((2, 3), 1 / 3)) > 0


def test_a_cast_with_nothing_to_do_returns_the_tensor():
    x = torch.ones(2)
    assert x.to(torch.float32) is x
    assert x.half() is not x
    assert x.dtype == torch.float32


def test_gradients_pass_floating_casts_only():
    x = torch.ones(2, requires_grad=True)
    (x.half() * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert x.grad.dtype == torch.float32
    assert not x.long().requires_grad


def test_mixed_dtypes_are_promoted_element_by_element():
    for a, b in [("int8", "uint8"), ("float32", "float64"), ("int32", "int64")]:
        expected = np.promote_types(a, b).name
        promoted = torch.promote_types(getattr(torch, a), getattr(torch, b))
        assert str(promoted) == f"torch.{expected}"
    assert (torch.ones(1).half() + torch.ones(1)).dtype == torch.float32


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
    assert (torch.from_numpy(a).float() / 255).item() == pytest.approx(200 / 255)


def test_division():
    assert (torch.tensor([-7]) // 2).tolist() == [-7 // 2] == [-4]
    half = torch.tensor([7]) / 2
    assert (half.dtype, half.tolist()) == (torch.float32, [3.5])


def test_moves_and_casts():
    x, u = torch.ones(2), torch.ones(1, dtype=torch.float16, device="meta")
    for like in (x.to(u), x.type_as(u)):
        assert (like.dtype, like.device) == (u.dtype, u.device)
    assert x.double().cpu().dtype == torch.float64
    assert x.to("cpu", torch.float64).dtype == torch.float64


def test_a_model_is_cast_in_place_except_for_its_integers():
    model = nn.BatchNorm1d(2)
    model.to(torch.bfloat16)
    dtypes = {name: value.dtype for name, value in model.state_dict().items()}
    assert dtypes.pop("num_batches_tracked") == torch.int64
    assert set(dtypes.values()) == {torch.bfloat16}
    assert len(dtypes) == 4
