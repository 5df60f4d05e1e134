"""compare-tensors: against numpy.allclose, the formula, and the built-ins."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/compare-tensors"
is_close = load_snippet("tensors/compare_tensors.py").is_close
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("rtol", [0.0, 1e-5, 0.1])
@pytest.mark.parametrize("atol", [0.0, 1e-8, 0.5])
def test_numpy_agrees_on_every_pair(rtol, atol):
    values = [0.0, -0.0, 1e-9, 1e-7, 0.4, 0.6, 90.0, 100.0, -100.0, INF, -INF, NAN]
    for a in values:
        for b in values:
            answer = is_close(
                torch.tensor([a, 1.0], dtype=torch.float64),
                torch.tensor([b, 1.0], dtype=torch.float64),
                rtol,
                atol,
            )
            expected = np.allclose([a, 1.0], [b, 1.0], rtol, atol, equal_nan=True)
            assert answer is bool(expected), (a, b)


def test_the_default_tolerances():
    one = torch.tensor(1.0, dtype=torch.float64)
    zero = torch.zeros_like(one)
    assert is_close(one + 1e-5, one)
    assert not is_close(one + 1.1e-5, one)
    assert is_close(zero + 1e-8, zero)
    assert not is_close(zero + 1.1e-8, zero)


def test_the_expected_value_sets_the_scale():
    small, large = torch.tensor(90.0), torch.tensor(100.0)
    assert is_close(small, large, rtol=0.1, atol=0)
    assert not is_close(large, small, rtol=0.1, atol=0)


@pytest.mark.parametrize(
    "other",
    [
        torch.ones(2),  # broadcasts
        torch.ones(1, 2, 2),
        torch.ones(2, 2).double(),
        torch.ones(2, 2).long(),
        torch.ones(0, 2),
    ],
    ids=repr,
)
def test_another_shape_or_dtype_is_not_close(other):
    assert is_close(torch.ones(2, 2), other) is False
    assert is_close(other, torch.ones(2, 2)) is False
    assert is_close(other, other.clone()) is True


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.bfloat16])
def test_other_dtypes_layouts_and_gradients(dtype):
    x = torch.tensor([[1, 0, 1], [0, 0, 1]]).to(dtype)
    assert is_close(x.T.contiguous(), x.T)
    assert not is_close(x, 1 - x.float().to(dtype) if dtype != torch.bool else ~x)
    weight = torch.ones(2, requires_grad=True)
    assert is_close(weight, torch.ones(2))
    assert is_close(torch.tensor(1), torch.tensor(1))


def test_another_device_is_an_error():
    with pytest.raises(RuntimeError, match="device"):
        is_close(torch.ones(2), torch.ones(2, device="meta"))


def test_the_documented_errors_are_raised():
    x = torch.ones(2)
    with raises_as_documented(PAGE):
        torch.allclose(x, x.double())
    with raises_as_documented(PAGE):
        torch.isclose(x, x.double())
    with raises_as_documented(PAGE):
        bool(x == x)
    with raises_as_documented(PAGE):
        [torch.zeros(2)].index(x)
    with raises_as_documented(PAGE):
        torch.testing.assert_close(x, x, rtol=0.1)
    assert torch.allclose(x.double(), x.double())
    assert any(x is y for y in [torch.zeros(2), x])


def test_equal_is_exact_and_ignores_the_dtype():
    assert torch.equal(torch.tensor([1]), torch.tensor([1.0]))
    assert torch.equal(torch.ones(2), torch.ones(2).double())
    assert not torch.equal(torch.ones(2, 2), torch.ones(2))
    assert not torch.equal(
        torch.tensor(0.1).double(), torch.tensor(0.1, dtype=torch.float64)
    )


def test_allclose_broadcasts():
    assert torch.allclose(torch.ones(2, 2), torch.ones(2))
    assert torch.allclose(torch.ones(2, 0), torch.tensor([5.0]))
    assert (torch.ones(2, 2) == torch.ones(2)).all()


def test_nan_is_never_equal_unless_asked():
    nan = torch.tensor([NAN])
    assert not (nan == nan).item()
    assert not torch.equal(nan, nan)
    assert not torch.allclose(nan, nan)
    with pytest.raises(AssertionError):
        torch.testing.assert_close(nan, nan)
    assert torch.allclose(nan, nan, equal_nan=True)
    torch.testing.assert_close(nan, nan, equal_nan=True)


def test_integers_want_equal():
    a, b = torch.tensor([100_000]), torch.tensor([100_001])
    assert torch.allclose(a, b)
    assert not torch.equal(a, b)
    with pytest.raises(AssertionError, match="not equal"):
        torch.testing.assert_close(a, b)


def test_tolerances_by_dtype():
    one = torch.tensor(1.0, dtype=torch.bfloat16)
    next_one = one + torch.finfo(torch.bfloat16).eps
    assert next_one.item() == 1.0078125
    assert not torch.allclose(one, next_one)
    torch.testing.assert_close(one, next_one)
    small, zero = torch.tensor(1e-7), torch.tensor(0.0)
    assert not torch.allclose(small, zero)
    torch.testing.assert_close(small, zero)


def test_the_variants():
    torch.manual_seed(0)
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    b.load_state_dict(a.state_dict())
    torch.testing.assert_close(a.state_dict(), b.state_dict())
    with torch.no_grad():
        b.bias += 1
    with pytest.raises(AssertionError, match=r"for item \['bias'\]"):
        torch.testing.assert_close(a.state_dict(), b.state_dict())
    x, y = (
        torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
        torch.tensor([[1.0, 2.0], [0.0, 4.0]]),
    )
    assert torch.isclose(x, y).logical_not().nonzero().tolist() == [[1, 0]]
    assert x.view(4).data_ptr() == x.data_ptr()
    assert x.detach() is not x
