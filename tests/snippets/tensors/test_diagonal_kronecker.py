"""diagonal-kronecker: against NumPy and SciPy, matrix by matrix."""

import numpy as np
import pytest
import torch
from scipy.linalg import block_diag
from torch import nn

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "tensors/diagonal-kronecker"
ANSWER = recipes()["diagonal-kronecker"].answer


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
@pytest.mark.parametrize(("b", "n"), [(1, 1), (2, 3), (3, 3), (4, 5)])
def test_the_answer_matrix_by_matrix(b, n, dtype):
    a, d = torch.randint(-9, 9, (b, n, n)), torch.randint(-9, 9, (b, n))
    names = {"torch": torch, "A": a.to(dtype), "d": d.to(dtype)}
    before = names["A"].clone()
    exec(ANSWER.text, names)
    assert torch.equal(names["A"], before)
    a, d = a.numpy(), d.numpy()
    for i in range(b):
        np.testing.assert_array_equal(names["diagonal"][i], np.diag(a[i]))
        assert names["trace"][i] == np.trace(a[i])
        np.testing.assert_array_equal(names["upper"][i], np.triu(a[i], 1))
        np.testing.assert_array_equal(names["A"][i].tril(), np.tril(a[i]))
        np.testing.assert_array_equal(names["D"][i], np.diag(d[i]))
        other = a[i].copy()
        np.fill_diagonal(other, d[i])
        np.testing.assert_array_equal(names["S"][i], other)
    np.testing.assert_array_equal(names["blocks"], block_diag(*a))
    np.testing.assert_array_equal(names["K"], np.kron(a[0], np.diag(d[0])))


def test_the_demonstration():
    found = load_snippet("tensors/diagonal_kronecker.py")
    assert found.trace.tolist() == [1 + 5 + 9, 10 + 14 + 18]


def test_a_view_with_a_stride_of_its_own():
    a = torch.zeros(2, 3, 3)
    diagonal = a.diagonal(dim1=-2, dim2=-1)
    assert diagonal.stride(-1) == 3 + 1
    assert diagonal.data_ptr() == a.data_ptr()
    kept = diagonal.clone()
    d = torch.arange(6.0).reshape(2, 3)
    a.diagonal(dim1=-2, dim2=-1).copy_(d)
    assert torch.equal(diagonal, d)
    assert kept.eq(0).all()
    np.testing.assert_array_equal(a[1], np.diag([3, 4, 5]))
    a.diagonal(dim1=-2, dim2=-1).add_(1)
    np.testing.assert_array_equal(a[1], np.diag([4, 5, 6]))
    for new in (a.triu(), d.diag_embed(), torch.block_diag(*a)):
        assert new.untyped_storage().data_ptr() != a.untyped_storage().data_ptr()


def test_other_dimensions_than_meant():
    a, d = torch.arange(18).reshape(2, 3, 3), torch.arange(6).reshape(2, 3)
    wrong = a.diagonal()
    assert wrong.shape == (3, 2)
    assert wrong.T.tolist() == [a[0, 0].tolist(), a[1, 1].tolist()]
    assert torch.diag(d).tolist() == [d[0, 0], d[1, 1]]


def test_fill_diagonal_of_three_dimensions():
    a = torch.zeros(3, 3, 3)
    a.fill_diagonal_(1)
    assert a.nonzero().tolist() == [[i] * 3 for i in range(3)]


def test_a_mask_of_infinities():
    minus = float("-inf")
    assert (torch.ones(3, 3).triu(1) * minus).isnan().any()
    mask = torch.full((3, 3), minus).triu(1)
    assert mask.tolist() == [[0, minus, minus], [0, 0, minus], [0, 0, 0]]


def test_kronecker_products_of_batches():
    a, b = torch.randn(2, 3, 3), torch.randn(2, 2, 4)
    assert torch.kron(a, b).shape == (4, 6, 12)
    found = torch.vmap(torch.kron)(a, b)
    pairs = zip(a.numpy(), b.numpy(), strict=True)
    np.testing.assert_allclose(found, [np.kron(p, q) for p, q in pairs])


def test_the_messages():
    a = torch.randn(2, 3, 3)
    with raises_as_documented(PAGE, "RuntimeError: diag(): Supports"):
        torch.diag(a)
    with raises_as_documented(PAGE, "RuntimeError: trace: expected"):
        torch.trace(a)
    with raises_as_documented(PAGE, "RuntimeError: torch.block_diag"):
        torch.block_diag(a)
    matrices = [torch.ones(2, 2), torch.ones(1, 3)]
    with raises_as_documented(PAGE, "TypeError: expected Tensor as element 0"):
        torch.block_diag(matrices)
    np.testing.assert_array_equal(torch.block_diag(*matrices), block_diag(*matrices))
    with raises_as_documented(PAGE, "RuntimeError: all dimensions of input"):
        a.fill_diagonal_(0)
    a.diagonal(dim1=-2, dim2=-1).fill_(0)
    assert [np.trace(matrix) for matrix in a.numpy()] == [0, 0]
    with raises_as_documented(PAGE, "TypeError: fill_diagonal_(): argument"):
        torch.zeros(3, 3).fill_diagonal_(torch.ones(3))


def test_the_diagonal_of_a_parameter():
    w = nn.Parameter(torch.ones(3, 3))
    with raises_as_documented(PAGE, "RuntimeError: a view of a leaf"):
        w.fill_diagonal_(0)
    with raises_as_documented(PAGE, "RuntimeError: expected src to have"):
        w.diagonal_scatter(torch.zeros(1))
    w.diagonal_scatter(torch.zeros(1).expand(3)).sum().backward()
    a, d = torch.ones(2, 3, 3), torch.arange(3.0)
    for row in a.diagonal_scatter(d.expand(2, 3), dim1=-2, dim2=-1).numpy():
        np.testing.assert_array_equal(row, 1 - np.eye(3) + np.diag(range(3)))
    np.testing.assert_array_equal(w.grad, 1 - np.eye(3))
    with torch.no_grad():
        w.fill_diagonal_(0)
    np.testing.assert_array_equal(w.detach(), 1 - np.eye(3))


@pytest.mark.parametrize("n", [2, 4])
def test_the_variants(n):
    a, b = torch.randn(2, 3, n, n, dtype=torch.float64)
    d = torch.randn(3, n, dtype=torch.float64)
    i, j = torch.triu_indices(n, n, offset=1)
    off = a[:, ~torch.eye(n, dtype=torch.bool)]
    assert off.shape == (3, n * (n - 1))
    symmetric = a.triu() + a.triu(1).mT
    assert d.diag_embed(1).shape == (3, n + 1, n + 1)
    for k in range(3):
        x, y, z = a[k].numpy(), b[k].numpy(), d[k].numpy()
        for offset in (1, -1):
            found = a.diagonal(offset, dim1=-2, dim2=-1)[k]
            np.testing.assert_array_equal(found, np.diag(x, offset))
        np.testing.assert_array_equal(d.diag_embed(1)[k], np.diag(z, 1))
        np.testing.assert_array_equal(off[k], x[~np.eye(n, dtype=bool)])
        np.testing.assert_array_equal(a[:, i, j][k], x[np.triu_indices(n, 1)])
        np.testing.assert_array_equal(np.triu(symmetric[k]), np.triu(x))
        np.testing.assert_array_equal(symmetric[k], symmetric[k].numpy().T)
        np.testing.assert_allclose((d[..., None] * a)[k], np.diag(z) @ x)
        np.testing.assert_allclose((a * d[..., None, :])[k], x @ np.diag(z))
        np.testing.assert_allclose((a * b.mT).sum(-1)[k], np.diag(x @ y))


def test_a_kronecker_product_times_a_vector():
    p, q, x = np.random.randn(2, 3), np.random.randn(4, 5), np.random.randn(3, 5)
    whole = np.kron(p, q) @ x.flatten()
    p, q, x = map(torch.tensor, (p, q, x))
    np.testing.assert_allclose((p @ x @ q.T).flatten(), whole)
