"""einsum: each example against NumPy; what is summed, and what is refused."""

import numpy as np
import torch
from torch import nn

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/einsum"
snippet = load_snippet("tensors/einsum.py")


def assert_is(found, expected):
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_each_example_is_that_of_numpy():
    a, b, q, k, u, v, t = (
        getattr(snippet, name).double().numpy()
        for name in ("a", "b", "q", "k", "u", "v", "t")
    )
    assert_is(snippet.product, np.matmul(a, b))
    assert_is(snippet.scores, np.matmul(q, k.swapaxes(-2, -1)))
    assert_is(snippet.rows, (u * t).sum(1))
    assert_is(
        snippet.outer, np.stack([np.outer(*pair) for pair in zip(u, v, strict=True)])
    )
    assert_is(snippet.diagonal, [[m[0, 0], m[1, 1]] for m in np.matmul(a, b)])


def test_the_answer_for_one_sample_in_bfloat16():
    shapes = {"a": (1, 2, 3), "b": (1, 3, 1), "q": (1, 2, 4, 8), "k": (1, 2, 1, 8)}
    shapes |= {"u": (1, 3), "t": (1, 3), "v": (1, 2)}
    names = {
        key: torch.randint(-3, 4, shape).bfloat16() for key, shape in shapes.items()
    }
    exact = {key: value.double().numpy() for key, value in names.items()}
    exec(answer("einsum"), names)
    expected = {
        "product": exact["a"] @ exact["b"],
        "scores": exact["q"] @ exact["k"].swapaxes(2, 3),
        "rows": (exact["u"] * exact["t"]).sum(1),
        "outer": exact["u"][:, :, None] * exact["v"][:, None],
    }
    for key, value in expected.items():
        np.testing.assert_array_equal(names[key].double(), value)


def test_the_bilinear_form_is_that_of_the_module():
    layer = nn.Bilinear(3, 5, 7, bias=False)
    layer.weight.data = snippet.w
    torch.testing.assert_close(snippet.bilinear, layer(snippet.u, snippet.v).detach())


def test_it_prints_the_shapes(capsys):
    load_snippet("tensors/einsum.py")
    assert capsys.readouterr().out == "scores (2, 8, 6, 9) bilinear (4, 7)\n"


def test_without_an_arrow_the_letters_are_sorted():
    x = torch.randn(2, 3)
    assert torch.equal(torch.einsum("ba", x), x.T)
    assert torch.equal(torch.einsum("ab", x), x)


def test_a_missing_letter_is_summed():
    found = torch.einsum("bij,bjk->ik", snippet.a, snippet.b)
    assert_is(found, np.matmul(snippet.a.numpy(), snippet.b.numpy()).sum(0))


def test_variants():
    x = torch.randn(2, 3, 3)
    assert_is(torch.einsum("bij->bi", x), x.numpy().sum(2))
    assert torch.equal(torch.einsum("bij->bji", x), x.transpose(1, 2))
    assert_is(torch.einsum("ii->", x[0]), np.trace(x[0].numpy()))
    many = torch.einsum("...ij,...jk->...ik", x[None], x)
    assert_is(many, np.matmul(x[None].numpy(), x.numpy()))
    a, b = torch.randn(3, 4, 5), torch.randn(5, 4, 6)
    two = torch.einsum("klm,mln->kn", a, b)
    assert_is(two, np.tensordot(a.numpy(), b.numpy(), axes=([1, 2], [1, 0])))
    assert_is(two, torch.tensordot(a, b, dims=([1, 2], [1, 0])).numpy())
    one = torch.einsum("i,i->", torch.ones(1), torch.ones(4))
    assert one == 4  # a size of 1 is repeated


def test_what_is_refused():
    one, two, three = torch.ones(2), torch.ones(2, 3), torch.ones(4, 2, 3)
    with raises_as_documented(PAGE, "RuntimeError: einsum(): the number"):
        torch.einsum("ij,jk->ik", three, two)
    with raises_as_documented(PAGE, "RuntimeError: einsum(): subscript j"):
        torch.einsum("ij,jk->ik", torch.ones(2, 4), torch.ones(3, 5))
    with raises_as_documented(PAGE, "RuntimeError: einsum(): output subscript k"):
        torch.einsum("ij->ik", two)
    with raises_as_documented(PAGE, "RuntimeError: einsum(): output subscript i"):
        torch.einsum("i->ii", one)
    with raises_as_documented(PAGE, "RuntimeError: expected scalar"):
        torch.einsum("ij,kj->ik", two, two.double())
    assert torch.diag_embed(one).tolist() == [[1, 0], [0, 1]]
