"""linalg-solve: against NumPy, and what the old names say."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from torch import linalg

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/linalg-solve"
snippet = load_snippet("tensors/linalg_solve.py")
A, b, X, y, M = (
    getattr(snippet, name).double().numpy() for name in ("A", "b", "X", "y", "M")
)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def close(actual, expected):
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-3, atol=1e-4)


def test_the_results_are_those_of_numpy():
    close(snippet.x, np.linalg.solve(A, b))
    close(snippet.w, np.linalg.lstsq(X, y)[0])
    U, S, Vh = np.linalg.svd(M)
    close(snippet.M2, sum(S[i] * np.outer(U[:, i], Vh[i]) for i in range(2)))
    close(snippet.values, np.linalg.eigvalsh(X.T @ X))
    close(snippet.vectors.T @ snippet.vectors, np.eye(3))
    assert snippet.U.shape == (6, 4)


@pytest.mark.parametrize(
    "old",
    [
        lambda A, b: torch.solve(b, A),
        lambda A, b: torch.lstsq(b, A),
        lambda A, b: torch.symeig(A, eigenvectors=True),
        lambda A, b: torch.eig(A),
    ],
)
def test_old_names_are_gone(old):
    with raises_as_documented(PAGE, "RuntimeError: This function was deprecated"):
        old(torch.eye(2), torch.ones(2, 1))


def test_svd_gave_v():
    U, S, V = torch.svd(snippet.M)
    close(U * S @ V.T, M)
    close(snippet.U * snippet.S @ snippet.Vh, M)


def test_eigh_reads_the_lower_triangle():
    lower = torch.tensor([[1.0, 100.0], [2.0, 3.0]])
    close(linalg.eigvalsh(lower), np.linalg.eigvalsh([[1, 2], [2, 3]]))


def test_singular_matrices():
    ones = torch.ones(2, 2)
    with raises_as_documented(PAGE, "_LinAlgError: torch.linalg.solve"):
        linalg.solve(ones, ones[0])
    close(linalg.pinv(ones) @ ones[0], [0.5, 0.5])


def test_a_singular_covariance_with_a_larger_diagonal():
    for scale in (1e-3, 1, 1e3):
        A = torch.randn(4, 6).mul(scale).T.cov()  # 4 samples of 6 features
        A[-1], A[:, -1] = A[0], A[:, 0]
        larger = A + 1e-5 * A.diagonal().mean() * torch.eye(6).to(A)
        linalg.cholesky(larger)
        x = linalg.solve(larger.double(), A[0].double())
        close(A.double() @ x / scale**2, A[0] / scale**2)


def test_rounding_hides_a_singular_matrix():
    A = torch.arange(1.0, 10).reshape(3, 3).double()  # of rank 2
    b = torch.tensor([1.0, 2.0, 4.0]).double()
    assert np.linalg.matrix_rank(A) == 2
    assert linalg.solve(A, b).abs().max() > 1e12
    n = torch.arange(7.0).double()
    hilbert = 1 / (1 + n[:, None] + n)
    assert linalg.cond(hilbert.float()) > 1e6
    ones = hilbert @ torch.ones(7).double()
    assert (linalg.solve(hilbert.float(), ones.float()) - 1).abs().max() > 1e-2
    close(linalg.solve(hilbert, ones), np.ones(7))


def test_dependent_columns_and_the_driver_of_a_gpu():
    X = torch.cat([torch.eye(3).repeat(4, 1), torch.ones(12, 1)], dim=1)
    y = torch.randn(12)
    smallest = np.linalg.lstsq(X.numpy(), y.numpy(), rcond=None)[0]
    close(linalg.lstsq(X, y).solution, smallest)
    close(linalg.pinv(X) @ y, smallest)
    try:
        gels = linalg.lstsq(X, y, driver="gels").solution
    except linalg.LinAlgError:
        return  # a zero on the diagonal that rounding has left exact
    assert not np.allclose(gels, smallest, atol=0.1)


def test_right_hand_sides_stand_in_columns():
    one, rows = torch.randn(3, 3).double(), torch.randn(5, 3).double()
    with raises_as_documented(PAGE, "RuntimeError: linalg.solve: Incompatible"):
        linalg.solve(one, rows)
    close(linalg.solve(one, rows.T).T, [np.linalg.solve(one, row) for row in rows])
    many = torch.randn(5, 3, 3).double()
    expected = [np.linalg.solve(*pair) for pair in zip(many, rows, strict=True)]
    close(linalg.solve(many, rows), expected)


def test_other_messages():
    eye = torch.eye(2)
    with raises_as_documented(PAGE, "_LinAlgError: linalg.inv"):
        linalg.inv(torch.ones(2, 2))
    with raises_as_documented(PAGE, "_LinAlgError: linalg.cholesky"):
        linalg.cholesky(-eye)
    with raises_as_documented(
        PAGE,
        "_LinAlgError: linalg.svd: The algorithm failed to converge because the "
        "input matrix contained",
    ):
        linalg.svd(eye * torch.nan)
    with raises_as_documented(
        PAGE,
        "_LinAlgError: linalg.svd: The algorithm failed to converge because the "
        "input matrix is ill",
    ):
        linalg.svd(torch.full((3, 3), torch.inf))
    with raises_as_documented(PAGE, 'NotImplementedError: "lu_cpu"'):
        linalg.solve(eye.half(), eye[0].half())
    with raises_as_documented(PAGE, "RuntimeError: linalg.solve: A must be"):
        linalg.solve(torch.ones(3, 2), torch.ones(3))


def test_the_answer_for_a_wide_matrix_and_a_batch():
    wide, two = torch.randn(3, 6).double(), torch.randn(2, 4, 4).double()
    names = {"X": wide, "y": torch.randn(3).double(), "A": two}
    names["b"] = torch.randn(2, 4).double()
    exec(answer("linalg-solve"), names)
    close(names["w"], np.linalg.pinv(wide.numpy()) @ names["y"].numpy())
    close((two @ names["x"][..., None]).squeeze(-1), names["b"].numpy())


def test_a_regression_with_an_intercept():
    X = torch.randn(20, 2)
    y = 3 * X[:, 0] - X[:, 1] + 5
    both = torch.cat([X, torch.ones_like(X[:, :1])], dim=1)
    close(linalg.lstsq(both, y).solution, [3, -1, 5])


def test_equal_singular_values_have_no_gradient_but_for_themselves():
    A = torch.diag(torch.tensor([2.0, 1, 1])).double().requires_grad_()
    weight = torch.arange(9.0).view(3, 3)
    vectors = lambda A: linalg.svd(A).U, lambda A: linalg.eigh(A).eigenvectors
    for f in vectors:
        (grad,) = torch.autograd.grad((f(A) * weight).sum(), A)
        assert grad.isnan().any()
        noisy = (A + 1e-3 * torch.randn(3, 3)).tril()
        noisy = noisy + noisy.tril(-1).T
        (grad,) = torch.autograd.grad((f(noisy) * weight).sum(), A)
        assert grad.isfinite().all()
    for f in (linalg.svdvals, linalg.eigvalsh):
        (grad,) = torch.autograd.grad(f(A).sum(), A)
        torch.testing.assert_close(grad, torch.eye(3).double())


def test_variants():
    t = torch.from_numpy(X), torch.from_numpy(y)
    ridge = linalg.solve(t[0].T @ t[0] + 0.5 * torch.eye(3), t[0].T @ t[1])
    rows = np.vstack([X, np.sqrt(0.5) * np.eye(3)])
    close(ridge, np.linalg.lstsq(rows, np.append(y, np.zeros(3)))[0])
    centred = snippet.X - snippet.X.mean(0)
    scores = centred @ linalg.svd(centred, full_matrices=False).Vh[:2].T
    expected = PCA(2).fit_transform(X)
    close(scores.abs(), np.abs(expected))  # the sign of an axis is free
    B = torch.randn(4, 2)
    LU, pivots = linalg.lu_factor(snippet.A)
    close(linalg.lu_solve(LU, pivots, B), np.linalg.solve(A, B))
    dependent = torch.ones(4, 2)
    close(dependent @ linalg.lstsq(dependent, dependent[:, 0]).solution, np.ones(4))
    close(linalg.pinv(dependent) @ dependent[:, 0], [0.5, 0.5])
