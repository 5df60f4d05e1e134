"""matrix-multiply: against NumPy in float64, and sums written out."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/matrix-multiply"
snippet = load_snippet("tensors/matrix_multiply.py")


def in_float64(*tensors):
    return (tensor.double().numpy() for tensor in tensors)


def test_values_are_those_of_numpy():
    x, weight, scale = in_float64(snippet.x, snippet.weight, snippet.scale)
    y = np.matmul(x, weight)
    np.testing.assert_allclose(snippet.y, y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(snippet.scaled, y * scale, rtol=1e-5, atol=1e-6)
    scores = np.matmul(x, x.swapaxes(1, 2))
    np.testing.assert_allclose(snippet.scores, scores, rtol=1e-5, atol=1e-6)


def test_sums_written_out():
    x, weight = snippet.x.tolist(), snippet.weight.tolist()
    for b, t, m in np.ndindex(2, 3, 5):
        total = sum(x[b][t][n] * weight[n][m] for n in range(4))
        assert snippet.y[b, t, m].item() == pytest.approx(total, abs=1e-5)
        scaled = total * snippet.scale[m].item()
        assert snippet.scaled[b, t, m].item() == pytest.approx(scaled, abs=1e-5)
    for b, t, s in np.ndindex(2, 3, 3):
        total = sum(x[b][t][n] * x[b][s][n] for n in range(4))
        assert snippet.scores[b, t, s].item() == pytest.approx(total, abs=1e-5)


def test_the_square_matrices(capsys):
    load_snippet("tensors/matrix_multiply.py")
    at, star = capsys.readouterr().out.splitlines()
    assert at == "a @ a = [[7, 10], [15, 22]]"
    assert star == "a * a = [[1, 4], [9, 16]]"


@pytest.mark.parametrize(
    ("a_shape", "b_shape"),
    [((4,), (4, 5)), ((7, 1, 3, 4), (2, 4, 5)), ((0, 3, 4), (4, 5)), ((3, 0), (0, 5))],
)
def test_the_rule_of_the_shapes(a_shape, b_shape):
    a, b = torch.rand(a_shape), torch.rand(b_shape)
    expected = np.matmul(*in_float64(a, b))
    assert (a @ b).shape == expected.shape
    np.testing.assert_allclose(a @ b, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_the_answer_for_one_matrix_and_for_one_step(dtype):
    for shape in ((3, 4), (2, 1, 4)):
        x = torch.randint(-4, 5, shape).to(dtype)
        names = {
            "x": x,
            "weight": torch.eye(4, 2).to(dtype),
            "scale": x.new_ones(2) / 2,
        }
        exec(answer("matrix-multiply"), names)
        array = x.double().numpy()
        np.testing.assert_array_equal(names["y"].double(), array[..., :2])
        np.testing.assert_array_equal(names["scaled"].double(), array[..., :2] / 2)
        expected = array @ array.swapaxes(-2, -1)
        np.testing.assert_allclose(names["scores"].double(), expected, rtol=0.01)


def test_mm_and_bmm_are_special_cases():
    x, weight = snippet.x, snippet.weight
    each = torch.stack([torch.mm(matrix, weight) for matrix in x])
    torch.testing.assert_close(snippet.y, each)
    torch.testing.assert_close(snippet.scores, torch.bmm(x, x.transpose(1, 2)))


def test_a_column_times_a_row_grows():
    output, target = torch.ones(6, 1), torch.ones(6)
    assert (output * target).shape == (6, 6)
    assert (output.squeeze(1) * target).shape == (6,)


def test_uint8_wraps_around():
    image = torch.full((2,), 200, dtype=torch.uint8)
    assert (image * 2).tolist() == [144, 144]
    assert (image.float() * 2).tolist() == [400, 400]


def test_star_promotes():
    assert (torch.ones(2) * torch.ones(2).double()).dtype == torch.float64


def test_variants():
    torch.manual_seed(0)
    a, b, c = torch.randn(2, 3, 4), torch.randn(2, 4, 5), torch.randn(2, 3, 5)
    torch.testing.assert_close(torch.baddbmm(c, a, b), c + a @ b)
    torch.testing.assert_close(torch.addmm(c[0], a[0], b[0]), c[0] + a[0] @ b[0])
    torch.testing.assert_close(torch.einsum("bij,bjk->bik", a, b), a @ b)
    u, v = torch.randn(4), torch.randn(4)
    torch.testing.assert_close(u @ v, (u * v).sum())
    torch.testing.assert_close(torch.outer(u, v), u[:, None] * v)
    torch.testing.assert_close(torch.linalg.vecdot(a, a), (a * a).sum(-1))


def test_the_documented_errors():
    with raises_as_documented(PAGE, "RuntimeError: addmm: mat1 and"):
        nn.Linear(256, 120)(torch.ones(64, 400))
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        torch.ones(3, 4) @ torch.ones(5, 2)
    with raises_as_documented(PAGE, "RuntimeError: The size of"):
        torch.ones(3, 4) * torch.ones(4, 5)
    with raises_as_documented(PAGE, "RuntimeError: expected m1 and"):
        torch.ones(3, 4) @ torch.ones(4, 2).double()
    with raises_as_documented(PAGE, "RuntimeError: expected scalar type"):
        torch.ones(2, 3, 4) @ torch.ones(2, 4, 2).double()
    with raises_as_documented(PAGE, "RuntimeError: mm: self must"):
        torch.mm(torch.ones(2, 4, 5), torch.ones(5, 2))
    with raises_as_documented(PAGE, "RuntimeError: batch1 must be"):
        torch.bmm(torch.ones(4, 5), torch.ones(5, 2))
    with raises_as_documented(PAGE, "RuntimeError: Expected size for"):
        torch.bmm(torch.ones(2, 4, 5), torch.ones(1, 5, 2))
    with pytest.raises(RuntimeError, match="first two dimensions of batch2 tensor"):
        torch.ones(2, 3, 4) @ torch.ones(2, 5, 2)


def test_the_documented_warning():
    x = torch.randn(2, 3, 4)
    assert x.mT.shape == (2, 4, 3)
    torch.set_warn_always(True)  # else once per process
    try:
        with raises_as_documented(PAGE, "UserWarning: The use of"):
            x.T  # noqa: B018
    finally:
        torch.set_warn_always(False)


def test_a_broadcast_factor_is_copied_and_einsum_copies_nothing():
    a, b = torch.rand(64, 8, 1, 100), torch.rand(8, 100, 100)

    def largest(f):
        with torch.profiler.profile(profile_memory=True) as prof:
            f()
        return max(event.cpu_memory_usage for event in prof.events())

    copies = largest(lambda: a @ b)
    assert copies >= 64 * b.nbytes
    assert largest(lambda: torch.einsum("bhij,hjk->bhik", a, b)) < b.nbytes
    torch.testing.assert_close(torch.einsum("bhij,hjk->bhik", a, b), a @ b)
