"""nan-inf-check: the results against NumPy, and each pitfall."""

import numpy as np
import torch

from tests.helpers import load_snippet

snippet = load_snippet("tensors/nan_inf_check.py")
ARRAY = np.array([[1, np.nan, 3], [4, 5, np.inf]], np.float32)


def test_the_snippet_against_numpy():
    finite = np.isfinite(ARRAY)
    np.testing.assert_array_equal(snippet.x.numpy(), ARRAY)
    np.testing.assert_array_equal(snippet.mask.numpy(), finite)
    means = np.ma.masked_array(ARRAY, ~finite).mean(axis=1)
    np.testing.assert_allclose(snippet.mean.numpy(), means)
    np.testing.assert_array_equal(snippet.rows.numpy(), ARRAY[finite.all(axis=1)])
    clean = np.nan_to_num(ARRAY, nan=0.0, posinf=1e4, neginf=-1e4)
    np.testing.assert_array_equal(snippet.clean.numpy(), clean)


def test_what_it_prints(capsys):
    load_snippet("tensors/nan_inf_check.py")
    lines = capsys.readouterr().out.splitlines()
    place = np.argwhere(~np.isfinite(ARRAY))[0].tolist()
    assert lines[:3] == ["all finite: False", "NaN: 1 Inf: 1", f"first at: {place}"]


def test_a_row_without_a_finite_value_has_mean_zero():
    x = torch.tensor([[torch.nan, -torch.inf], [2.0, torch.nan]])
    mask = x.isfinite()
    mean = torch.where(mask, x, 0).sum(1) / mask.sum(1).clamp_min(1)
    assert mean.tolist() == [0, 2]
    assert x[mask.any(1)].nanmean(dim=1).tolist() == [2]


def test_comparison_and_multiplication_do_not_help():
    x = torch.tensor([torch.nan, 1.0])
    assert not (x == torch.nan).any()
    assert (x * x.isfinite()).isnan().any()
    assert x.masked_fill(x.isnan(), 0).tolist() == [0, 1]


def test_the_default_replacement_overflows_again():
    big = torch.tensor(torch.inf).nan_to_num()
    assert big.item() == np.finfo(np.float32).max
    assert big.square().isinf()


def test_the_other_branch_of_where_takes_part_in_backward():
    x = torch.tensor([-1.0, 4.0], requires_grad=True)
    torch.where(x > 0, x.sqrt(), 0).sum().backward()
    assert x.grad[0].isnan()
    x.grad = None
    safe = torch.where(x > 0, torch.where(x > 0, x, 1).sqrt(), 0)
    safe.sum().backward()
    assert x.grad.tolist() == [0, 0.25]
