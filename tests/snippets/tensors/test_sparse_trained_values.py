"""sparse-tensors, its variant: against a dense matrix, and its memory."""

import torch

from tests.helpers import load_snippet

snippet = load_snippet("tensors/sparse_trained_values.py")
row, col, weight = snippet.row, snippet.col, snippet.weight


def test_it_is_the_dense_matrix():
    dense = torch.tensor([[0.0, 3, 0, 0], [4, 0, 0, 0], [0, 0, 0, 5]])
    assert torch.equal(snippet.y, dense @ snippet.x)
    assert weight.grad.tolist() == [2, 2, 2, 2]


def test_the_gradients_are_those_of_the_dense_matrix():
    x = torch.rand(4, 2, requires_grad=True)
    y = x.new_zeros(3, 2).index_add(0, row, weight[:, None] * x[col])
    by_weight, by_x = torch.autograd.grad(y.square().sum(), (weight, x))
    dense = torch.zeros(3, 4).index_put((row, col), weight.detach(), accumulate=True)
    dense.requires_grad_()
    wanted, wanted_x = torch.autograd.grad((dense @ x).square().sum(), (dense, x))
    torch.testing.assert_close(by_weight, wanted[row, col])
    torch.testing.assert_close(by_x, wanted_x)


def test_a_matrix_that_fits_nowhere():
    n = 10_000_000
    x = torch.ones(n, 1)
    value = torch.ones(2, requires_grad=True)
    y = x.new_zeros(n, 1).index_add(0, torch.tensor([0, n - 1]), value[:, None])
    y.sum().backward()
    assert value.grad.tolist() == [1, 1]
