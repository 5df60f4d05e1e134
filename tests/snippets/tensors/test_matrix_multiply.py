"""matrix-multiply: against NumPy in float64, and sums written out."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

project = load_snippet("tensors/matrix_multiply.py").project
PAGE = "tensors/matrix-multiply"


@pytest.mark.parametrize(
    ("x_shape", "weight_shape"),
    [
        ((3, 4), (4, 5)),
        ((4,), (4, 5)),
        ((2, 3, 4), (4, 5)),
        ((2, 3, 4), (2, 4, 5)),
        ((2, 3, 4), (1, 4, 5)),
        ((7, 1, 3, 4), (2, 4, 5)),
        ((0, 3, 4), (4, 5)),
        ((3, 0), (0, 5)),  # a sum over nothing is 0
    ],
)
def test_values_are_those_of_numpy(x_shape, weight_shape):
    torch.manual_seed(0)
    x, weight, scale = (torch.randn(s) for s in (x_shape, weight_shape, (5,)))
    a, b, c = (t.double().numpy() for t in (x, weight, scale))
    expected = np.matmul(a, b) * c
    y = project(x, weight, scale)
    assert y.shape == expected.shape
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5, atol=1e-5)


def test_sums_written_out():
    x = torch.tensor([[1, 2, 3]])
    weight = torch.tensor([[1, 0], [0, 10], [-1, 100]])
    scale = torch.tensor([5, 7])
    assert project(x, weight, scale).tolist() == [[(1 - 3) * 5, (20 + 300) * 7]]


def test_transposed_and_half_precision_inputs():
    torch.manual_seed(0)
    x, weight, scale = torch.randn(4, 3).T, torch.randn(5, 4).T, torch.randn(5)
    copies = (t.contiguous() for t in (x, weight, scale))
    torch.testing.assert_close(project(x, weight, scale), project(*copies))
    half = project(*(t.bfloat16() for t in (x, weight, scale)))
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(
        half.float(), project(x, weight, scale), rtol=0.05, atol=0.05
    )


def test_gradients():
    x, weight, scale = (
        torch.randn(s, dtype=torch.float64, requires_grad=True)
        for s in ((2, 3, 4), (4, 5), (5,))
    )
    torch.autograd.gradcheck(project, (x, weight, scale))
    project(x, weight, scale).sum().backward()
    assert scale.grad.shape == (5,)  # summed over what was broadcast


def test_inputs_stay_as_they_are():
    x, weight, scale = torch.ones(2, 2), torch.ones(2, 2), torch.full((2,), 3.0)
    assert project(x, weight, scale).tolist() == [[6, 6], [6, 6]]
    assert x.eq(1).all()
    assert weight.eq(1).all()


def test_star_in_place_of_at_is_silent_on_square_matrices():
    a = torch.tensor([[1, 2], [3, 4]])
    assert (a * a).tolist() == [[1, 4], [9, 16]]
    assert (a @ a).tolist() == [[7, 10], [15, 22]]


def test_a_column_times_a_row_grows():
    prediction, target = torch.ones(6, 1), torch.ones(6)
    assert (prediction * target).shape == (6, 6)
    assert (prediction.squeeze(1) * target).shape == (6,)
    assert (prediction * target[:, None]).shape == (6, 1)


def test_t_reverses_all_dimensions_and_mt_the_last_two():
    x = torch.randn(2, 3, 4)
    assert x.mT.shape == (2, 4, 3)
    torch.set_warn_always(True)
    try:
        with raises_as_documented(PAGE):
            x.T  # noqa: B018
    finally:
        torch.set_warn_always(False)


def test_uint8_wraps_around():
    image = torch.full((2,), 200, dtype=torch.uint8)
    assert (image * 2).tolist() == [400 - 256] * 2
    assert (image.float() * 2).tolist() == [400, 400]
    assert (image * 1.5).tolist() == [300, 300]  # a float makes it float32


def test_variants():
    torch.manual_seed(0)
    a, b, c = torch.randn(2, 3, 4), torch.randn(2, 4, 5), torch.randn(2, 3, 5)
    torch.testing.assert_close(torch.baddbmm(c, a, b), c + a @ b)
    torch.testing.assert_close(torch.addmm(c[0], a[0], b[0]), c[0] + a[0] @ b[0])
    torch.testing.assert_close(torch.addcmul(c, c, c, value=0.5), c + 0.5 * c * c)
    torch.testing.assert_close(torch.einsum("bij,bjk->bik", a, b), a @ b)
    u, v = torch.randn(4), torch.randn(4)
    torch.testing.assert_close(u @ v, (u * v).sum())
    torch.testing.assert_close(torch.outer(u, v), u[:, None] * v)
    torch.testing.assert_close(torch.linalg.vecdot(a, a), (a * a).sum(-1))
    chain = [torch.randn(2, 9), torch.randn(9, 9), torch.randn(9, 1)]
    product = chain[0] @ chain[1] @ chain[2]
    torch.testing.assert_close(torch.linalg.multi_dot(chain), product)


def test_the_documented_errors():
    with raises_as_documented(PAGE):
        nn.Linear(256, 120)(torch.ones(64, 400))
    with raises_as_documented(PAGE):
        torch.ones(3, 4) * torch.ones(4, 5)
    with raises_as_documented(PAGE):
        torch.mm(torch.ones(2, 4, 5), torch.ones(5, 2))
    with raises_as_documented(PAGE):
        torch.bmm(torch.ones(4, 5), torch.ones(5, 2))
    with raises_as_documented(PAGE):
        torch.bmm(torch.ones(2, 4, 5), torch.ones(1, 5, 2))
    with raises_as_documented(PAGE):
        project(torch.ones(3, 4), torch.ones(4, 2).double(), torch.ones(2))
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        project(torch.ones(3, 4), torch.ones(5, 2), torch.ones(2))
    with pytest.raises(RuntimeError, match="must match the size"):
        project(torch.ones(3, 4), torch.ones(4, 2), torch.ones(3))
