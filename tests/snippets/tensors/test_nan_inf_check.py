"""nan-inf-check: the results against NumPy, clean data, and each pitfall."""

import numpy as np
import pandas
import pytest
import torch

from tests.chains.pasted import answer
from tests.helpers import load_snippet

snippet = load_snippet("tensors/nan_inf_check.py")
ARRAY = np.array([[1, np.nan, 3], [4, 5, np.inf]], np.float32)
ANSWER = answer("nan-inf-check")


def paste(x):
    names = {"x": x}
    exec(ANSWER, names)
    return names["bad"], names["clean"]


def test_the_snippet_against_numpy():
    finite = np.isfinite(ARRAY)
    np.testing.assert_array_equal(snippet.x.numpy(), ARRAY)
    np.testing.assert_array_equal(snippet.bad.numpy(), ~finite)
    clean = np.nan_to_num(ARRAY, nan=0.0, posinf=0.0, neginf=0.0)
    np.testing.assert_array_equal(snippet.clean.numpy(), clean)


def test_what_it_prints(capsys):
    load_snippet("tensors/nan_inf_check.py")
    lines = capsys.readouterr().out.splitlines()
    finite = np.isfinite(ARRAY)
    place = np.argwhere(~finite)[0].tolist()
    assert lines[0] == f"2 bad values, first at {place}"
    means = np.ma.masked_array(ARRAY, ~finite).mean(axis=1)
    assert lines[1] == f"mean of each row: {means.tolist()}"
    rows = ARRAY[finite.all(axis=1)]
    assert lines[2] == f"rows without any: {rows.tolist()}"


@pytest.mark.parametrize(
    "x", [torch.ones(2, 3), torch.tensor(1.0), torch.zeros(0, 3), torch.arange(3)]
)
def test_clean_data_stay_as_they_are_and_print_nothing(x, capsys):
    bad, clean = paste(x)
    assert not bad.any()
    assert torch.equal(clean, x)
    assert not capsys.readouterr().out


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_each_kind_in_each_dtype(value, dtype, capsys):
    bad, clean = paste(torch.tensor([1, value], dtype=dtype))
    assert bad.tolist() == [False, True]
    assert clean.tolist() == [1, 0]
    assert clean.dtype == dtype
    assert capsys.readouterr().out == "1 bad values, first at [1]\n"
    paste(torch.tensor(value, dtype=dtype))
    assert capsys.readouterr().out == "1 bad values, first at []\n"


def test_no_gradient_for_what_was_replaced(capsys):
    x = torch.tensor([2.0, torch.nan], requires_grad=True)
    _, clean = paste(x)
    clean.square().sum().backward()
    assert x.grad.tolist() == [4, 0]


def test_a_row_without_a_finite_value_has_mean_zero(capsys):
    x = torch.tensor([[torch.nan, -torch.inf], [2.0, torch.nan]])
    bad, clean = paste(x)
    mean = clean.sum(1) / (~bad).sum(1).clamp_min(1)
    assert mean.tolist() == [0, 2]
    assert x[~bad.all(1)].nanmean(dim=1).tolist() == [2]


def test_missing_values_become_the_mean_of_their_column():
    x = torch.tensor([[1.0, torch.nan], [torch.nan, 4.0], [5.0, 6.0]])
    filled = torch.where(x.isnan(), x.nanmean(dim=0), x)
    frame = pandas.DataFrame(x.numpy())
    np.testing.assert_allclose(filled, frame.fillna(frame.mean()))


def test_comparison_and_multiplication_do_not_help():
    x = torch.tensor([torch.nan, 1.0])
    assert not (x == torch.nan).any()
    assert (x * x.isfinite()).isnan().any()


def test_batch_norm_keeps_the_nan_of_a_batch():
    model = torch.nn.BatchNorm1d(2)
    model(torch.ones(4, 2))
    assert all(v.isfinite().all() for v in model.state_dict().values())
    model(torch.full((4, 2), torch.nan))
    assert all(p.isfinite().all() for p in model.parameters())
    assert not all(v.isfinite().all() for v in model.state_dict().values())
    assert model.eval()(torch.ones(4, 2)).isnan().all()


def test_nan_to_num():
    clean = snippet.x.nan_to_num(nan=0.0, posinf=1e4, neginf=-1e4)
    expected = np.nan_to_num(ARRAY, nan=0.0, posinf=1e4, neginf=-1e4)
    np.testing.assert_array_equal(clean, expected)
    big = torch.tensor(torch.inf).nan_to_num()
    assert big.item() == np.finfo(np.float32).max
    assert big.square().isinf()
