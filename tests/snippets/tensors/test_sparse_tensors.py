"""sparse-tensors: against SciPy and dense matrices, gradients, bad input."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import torch
from torch import nn
from torch.utils.data import DataLoader

from tests.chains.pasted import answer
from tests.helpers import TORCH_CPU, lacking, load_snippet, raises_as_documented

PAGE = "tensors/sparse-tensors"
check = torch.sparse.check_sparse_tensor_invariants
ANSWER = answer("sparse-tensors")
pytestmark = pytest.mark.filterwarnings("ignore:Sparse:UserWarning")


@pytest.fixture(scope="module")
def snippet():
    """The snippet."""
    return load_snippet("tensors/sparse_tensors.py")


@pytest.fixture
def always():
    """Each warning, not only the first."""
    torch.set_warn_always(True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    torch.set_warn_always(False)


def build(index, value, size):
    """A COO matrix with its indices checked."""
    with check():
        return torch.sparse_coo_tensor(torch.tensor(index), torch.tensor(value), size)


def test_against_scipy(snippet):
    place = snippet.row.numpy(), snippet.col.numpy()
    m = scipy.sparse.coo_matrix((snippet.value.numpy(), place), shape=(3, 4))
    x = snippet.x.detach().numpy()
    np.testing.assert_array_equal(snippet.A.to_dense(), m.toarray())
    np.testing.assert_array_equal(snippet.y.detach(), m @ x)
    assert snippet.A.values().tolist() == [3, 4, 5]
    assert not check.is_enabled()


def test_the_gradients_are_those_of_dense_matrices(snippet):
    dense = snippet.A.to_dense().requires_grad_()
    x = torch.rand(4, 2, requires_grad=True)
    (by_x,) = torch.autograd.grad((dense @ x).square().sum(), x)
    (sparse,) = torch.autograd.grad((snippet.A @ x).square().sum(), x)
    torch.testing.assert_close(sparse, by_x)
    assert snippet.x.grad.tolist() == [[4, 4], [3, 3], [0, 0], [5, 5]]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_answer_with_another_matrix(dtype):
    m = scipy.sparse.random(6, 5, 0.3, random_state=0)
    x = torch.rand(5, 3, dtype=dtype)
    names = {"row": torch.from_numpy(m.row).long(), "size": m.shape, "x": x}
    names |= {"col": torch.from_numpy(m.col).long()}
    names |= {"value": torch.from_numpy(m.data).to(dtype)}
    exec(ANSWER, names)
    np.testing.assert_allclose(names["y"], m @ x.numpy(), rtol=1e-5)
    names["row"] = names["row"] + 5
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        exec(ANSWER, names)


@pytest.mark.parametrize("multiply", [torch.sparse.mm, torch.matmul])
def test_a_gradient_for_the_matrix_is_dense_on_the_way(multiply):
    n = 10_000_000  # n * n floats fit nowhere
    A = build([[0, n - 1], [5, 7]], [1.0, 2.0], (n, n)).coalesce()
    x = torch.ones(n, 1, requires_grad=True)
    multiply(A, x).sum().backward()
    assert x.grad[[5, 7]].tolist() == [[1], [2]]
    A.requires_grad_()
    with pytest.raises(RuntimeError, match="allocate"):
        multiply(A, x.detach()).sum().backward()


def test_the_warnings(always):
    with raises_as_documented(PAGE, "UserWarning: Sparse CSR"):
        torch.eye(3).to_sparse().to_sparse_csr()
    A = torch.eye(3).to_sparse()
    with raises_as_documented(PAGE, "UserWarning: Sparse CSR"):
        A @ A


def test_the_warning_of_a_matrix_without_a_check():
    assert not lacking(TORCH_CPU, "Sparse invariant checks are implicitly disabled.")


def test_the_snippet_and_its_check_do_not_warn(always):
    load_snippet("tensors/sparse_tensors.py")


def test_embeddings():
    table, head = nn.Embedding(10, 3, sparse=True), nn.Linear(3, 1)
    before = table.weight.detach().clone()
    head(table(torch.tensor([1, 1, 4]))).sum().backward()
    assert table.weight.grad.is_sparse
    with raises_as_documented(PAGE, "RuntimeError: Adam does not"):
        torch.optim.Adam(table.parameters()).step()
    torch.optim.SparseAdam(table.parameters()).step()
    changed = (table.weight != before).any(1).nonzero().flatten()
    assert changed.tolist() == [1, 4]
    for optimizer in (torch.optim.SGD, torch.optim.Adagrad):
        optimizer(table.parameters(), lr=0.1).step()
        with pytest.raises(RuntimeError, match="sparse"):
            optimizer(table.parameters(), lr=0.1, weight_decay=0.1).step()


def test_what_is_refused():
    twice = build([[0, 0], [1, 1]], [1.0, 2.0], (2, 2))
    with raises_as_documented(PAGE, "RuntimeError: Cannot get indices"):
        twice.indices()
    assert twice.coalesce().values().tolist() == [3]
    with raises_as_documented(PAGE, "RuntimeError: size is inconsistent"):
        build([[0, 2], [0, 1]], [1.0, 2.0], (2, 2))
    with raises_as_documented(PAGE, "RuntimeError: 'len(size)"):
        build([[0, 1], [1, 1], [0, 0]], [1.0, 2.0, 3.0], (2, 2))
    with raises_as_documented(PAGE, "RuntimeError: add(sparse, dense)"):
        twice + 1
    assert (torch.ones(2, 2) + twice).tolist() == [[1, 4], [1, 1]]
    with raises_as_documented(PAGE, "RuntimeError: Batches of sparse"):
        next(iter(DataLoader([twice, twice], batch_size=2)))


def test_another_dtype_and_a_batch(snippet):
    A, x = snippet.A, torch.rand(5, 4, 2)
    with raises_as_documented(PAGE, "RuntimeError: expected scalar type Double"):
        A.double() @ x[0]
    with pytest.raises(RuntimeError, match="expand is unsupported"):
        A @ x
    y = torch.stack([A @ b for b in x])
    expected = np.einsum("rc,bcd->brd", A.to_dense().numpy(), x.numpy())
    np.testing.assert_allclose(y, expected, rtol=1e-5)


def test_variants():
    m = scipy.sparse.random(5, 4, 0.4, format="csr", random_state=0).tocoo()
    row, col = torch.from_numpy(m.row).long(), torch.from_numpy(m.col).long()
    with check():
        A = torch.sparse_coo_tensor(
            torch.stack([row, col]), torch.from_numpy(m.data), m.shape
        ).coalesce()
    np.testing.assert_array_equal(A.to_dense(), m.toarray())
    assert torch.equal(A.to_dense().to_sparse().to_dense(), A.to_dense())
    sums = torch.sparse.sum(A, dim=1).to_dense()
    np.testing.assert_allclose(sums, np.asarray(m.sum(1)).ravel())
    x = torch.rand(4, 2, dtype=torch.float64)
    np.testing.assert_allclose(A.to_sparse_csr() @ x, m @ x.numpy())
    np.testing.assert_allclose((A @ A.t()).to_dense(), (m @ m.T).toarray())


def test_sparse_times_sparse():
    A = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    B = torch.eye(2)
    left = A.to_sparse().requires_grad_()
    (left @ B.to_sparse()).to_dense().sum().backward()
    assert left.grad.to_dense().tolist() == [[0, 1], [1, 0]]
