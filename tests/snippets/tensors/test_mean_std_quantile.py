"""mean-std-quantile: against NumPy, in the cases where torch differs from it."""

from functools import partial

import numpy as np
import pytest
import torch
from sklearn.preprocessing import StandardScaler

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "tensors/mean-std-quantile"
ANSWER = recipes()["mean-std-quantile"].answer


def answered(x: torch.Tensor) -> dict:
    names = {"x": x}
    exec(ANSWER.text, names)
    return names


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n", [2, 5, 6, 101])
def test_the_answer_is_numpys(n, dtype):
    x = torch.randn(n, 3, dtype=dtype)
    found, a = answered(x), x.numpy()
    close = partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6)
    close(found["mean"], a.mean(0))
    close(found["std"], a.std(0))
    close(found["median"], np.median(a, 0))
    low, high = np.quantile(a, [0.05, 0.95], axis=0)
    close(found["low"], low)
    close(found["high"], high)


def test_one_sample():
    one = torch.ones(1, 2)
    assert answered(one)["std"].tolist() == [0, 0]
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert one.std(dim=0).isnan().all()


def test_without_a_correction_it_divides_by_one_less():
    x = torch.tensor([1.0, 2.0, 3.0, 6.0])
    expected = np.std(x.numpy(), ddof=1)
    assert x.std().item() == pytest.approx(expected)
    assert x.median().item() == 2
    assert np.median(x.numpy()) == 2.5


def test_the_demonstration():
    found = load_snippet("tensors/mean_std_quantile.py")
    assert found.median.tolist() == [3, 25]


def test_nan_is_left_out():
    x = torch.tensor([[1.0], [float("nan")], [3.0]])
    assert x.mean(dim=0).isnan()
    assert x.nanmean(dim=0).item() == x.nanquantile(0.5, dim=0).item() == 2
    assert len(x[x.isfinite().all(1)]) == 2


def test_the_variants():
    x = torch.randn(9, 2)
    std, mean = torch.std_mean(x, dim=0)
    torch.testing.assert_close(mean, x.mean(0))
    torch.testing.assert_close(std, x.std(0))


def test_the_messages():
    with raises_as_documented(PAGE, "NotImplementedError: mean(): could not infer"):
        torch.tensor([1, 2]).mean()
    with raises_as_documented(PAGE, "RuntimeError: quantile() input tensor must"):
        torch.tensor([1, 2]).quantile(0.5)
    with raises_as_documented(PAGE, "NotImplementedError: std and var"):
        torch.tensor([1, 2]).std()
    x = torch.randn(3, 4, 2)
    for wrong in ({"q": [0.1, 0.9]}, {"q": 0.5, "dim": (0, 1)}):
        with raises_as_documented(PAGE, "TypeError: quantile() received"):
            x.quantile(**wrong)
    found = x.flatten(0, 1).quantile(x.new_tensor([0.1, 0.9]), dim=0)
    expected = np.quantile(x.numpy(), [0.1, 0.9], axis=(0, 1))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_rows_need_keepdim():
    x = torch.randn(4, 4)
    scaled = (x - x.mean(1, keepdim=True)) / x.std(1, correction=0, keepdim=True)
    for row in scaled.numpy():
        np.testing.assert_allclose([row.mean(), row.std()], [0, 1], atol=1e-5)
    assert (x - x.mean(1)).mean(1).abs().max() > 1e-3


def test_as_scikit_learn_scales():
    train, x = torch.randn(30, 3), torch.randn(7, 3)
    scaler = StandardScaler().fit(train.numpy())
    mean, std = answered(train)["mean"], answered(train)["std"]
    expected = scaler.transform(x.numpy())
    np.testing.assert_allclose((x - mean) / std, expected, rtol=1e-4, atol=1e-5)
