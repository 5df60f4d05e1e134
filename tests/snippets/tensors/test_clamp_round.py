"""clamp-round: against Python's own rounding and NumPy's clip."""

import math
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "tensors/clamp-round"
ANSWER = recipes()["clamp-round"].answer


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_answer_as_python_rounds(dtype):
    x = torch.tensor([-7.26, -2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 1.75, 2.5], dtype=dtype)
    names, values = {"x": x}, x.tolist()
    exec(ANSWER.text, names)
    np.testing.assert_array_equal(names["limited"], np.clip(x.numpy(), 0, 2))
    assert names["whole"].tolist() == [round(v) for v in values]
    np.testing.assert_allclose(names["places"], [round(v, 1) for v in values], 1e-6)
    assert names["cut"].tolist() == [math.trunc(v) for v in values]
    assert names["numbers"].tolist() == [round(v) for v in values]
    assert names["numbers"].dtype == torch.int64
    assert x.long().tolist() == [int(v) for v in values]
    assert x.floor().tolist() == [math.floor(v) for v in values]


def test_the_demonstration():
    found = load_snippet("tensors/clamp_round.py")
    assert found.whole.tolist() == [-1, 0, 0, 2, 2, 9]


def test_a_range_of_its_own_for_each_column():
    x = torch.tensor([[5.0, 5.0], [-5.0, -5.0]])
    low, high = torch.tensor([0.0, -1.0]), torch.tensor([1.0, 9.0])
    assert x.clamp(low, high).tolist() == [[1, 5], [0, -1]]


def test_bytes_of_an_image():
    x = torch.tensor([-0.1, 0.0, 0.5, 1.0, 1.2])
    pixels = x.mul(255).round().clamp(0, 255).byte()
    assert pixels.tolist() == [0, 0, 128, 255, 255]


def test_gradients():
    x = torch.tensor([0.2, 1.7, 5.0], requires_grad=True)
    for rounding in (torch.round, torch.floor, torch.trunc, torch.sign):
        (grad,) = torch.autograd.grad(rounding(x).sum(), x)
        assert grad.eq(0).all()
    y = x + (x.round() - x).detach()
    assert torch.equal(y, x.round())
    (grad,) = torch.autograd.grad(y.sum(), x)
    assert grad.tolist() == [1, 1, 1]
    (grad,) = torch.autograd.grad(x.clamp(0, 2).sum(), x)
    assert grad.tolist() == [1, 1, 0]


def test_nan_stays():
    x = torch.tensor([float("nan")])
    assert x.clamp(0, 1).isnan()
    assert x.nan_to_num(0.0).item() == 0


@pytest.mark.parametrize("value", [-5, -4, 4, 5])
def test_the_variants(value):
    x = torch.tensor(value)
    assert (x // 2).item() == value // 2
    assert (x % 2).item() == value % 2
    assert torch.div(x, 2, rounding_mode="trunc").item() == int(value / 2)
    assert torch.fmod(x, 2).item() == math.fmod(value, 2)
    assert torch.tensor(value / 4).frac().item() == math.modf(value / 4)[0]


def test_halves_away_from_zero_and_multiples():
    x = torch.tensor([-2.5, -0.5, -0.4, 0.0, 0.5, 1.4, 2.5])
    exact = [Decimal(v).quantize(Decimal(1), ROUND_HALF_UP) for v in x.tolist()]
    assert (x.sign() * (x.abs() + 0.5).floor()).tolist() == [float(v) for v in exact]
    x = torch.tensor([-0.3, 0.3, 1.9])
    assert ((x / 0.25).round() * 0.25).tolist() == [-0.25, 0.25, 2.0]


def test_the_message():
    with raises_as_documented(PAGE, "RuntimeError: torch.clamp: At least one"):
        torch.ones(1).clamp()
