"""jvp-directional: against differences, and a Jacobian worked by hand."""

import subprocess
import sys
import warnings

import pytest
import torch
import torch.autograd.functional as older
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.func import functional_call, jvp, linearize, vjp, vmap
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from tests.helpers import (
    assert_documented,
    load_snippet,
    quoted,
    raises_as_documented,
    recipes,
)

PAGE = "autograd/jvp-directional"
ANSWER = recipes()["jvp-directional"].answer
OWN = ("ignore:.torch.jit.script", "ignore:Attempted to insert")
pytestmark = [pytest.mark.filterwarnings(text) for text in OWN]


@pytest.fixture
def model():
    torch.manual_seed(0)
    layers = nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)
    return nn.Sequential(*layers).double().requires_grad_(False)


@pytest.fixture
def x():
    return torch.randn(3).double()


def by_hand(model, x):
    (w1, b1), (w2, _) = ((m.weight, m.bias) for m in (model[0], model[2]))
    return w2 * (1 - torch.tanh(w1 @ x + b1) ** 2) @ w1


def difference(f, x, v, h=1e-5):
    return (f(x + h * v) - f(x - h * v)) / (2 * h)


def test_the_answer(model, x):
    v, u, vs = torch.randn(3), torch.randn(2), torch.randn(5, 3)
    v, u, vs = v.double(), u.double(), vs.double()
    names = {"f": model, "x": x, "v": v, "u": u, "vs": vs}
    exec(ANSWER.text, names)
    jacobian = by_hand(model, x)
    torch.testing.assert_close(names["Jv"], jacobian @ v)
    torch.testing.assert_close(
        names["Jv"], difference(model, x, v), rtol=1e-6, atol=1e-8
    )
    torch.testing.assert_close(names["uJ"], u @ jacobian)
    torch.testing.assert_close(names["Jvs"], vs @ jacobian.T)
    assert torch.equal(names["y"], model(x))
    torch.testing.assert_close(names["pull"](2 * u)[0], 2 * names["uJ"])
    results = (names[n] for n in ("Jv", "uJ", "Jvs"))
    assert not any(result.requires_grad for result in results)


def test_the_demonstration():
    found = load_snippet("autograd/jvp_directional.py")
    torch.testing.assert_close(found.J, by_hand(found.f, found.x))


def test_forward_mode_keeps_no_graph(model, x):
    kept = []
    with saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        jvp(model, (x,), (x,))
        assert not kept
        model(x.requires_grad_())
        assert kept


def test_weights_that_are_trained_leave_a_graph(model, x):
    model.requires_grad_()
    assert jvp(model, (x,), (x,))[1].requires_grad
    names = {"f": model, "x": x, "v": x, "u": x[:2], "vs": x.expand(4, 3)}
    with torch.no_grad():
        exec(ANSWER.text, names)
    jacobian = by_hand(model, x).detach()
    for name, expected in {
        "Jv": jacobian @ x,
        "uJ": x[:2] @ jacobian,
        "Jvs": (jacobian @ x).expand(4, 2),
    }.items():
        assert not names[name].requires_grad
        torch.testing.assert_close(names[name], expected)


def test_how_often_f_runs(x):
    runs = []

    def f(x):
        runs.append(1)
        return x.sin()

    _, pull = vjp(f, x)
    for _ in range(3):
        pull(x)
    assert len(runs) == 1
    runs.clear()
    _, push = linearize(f, x)
    before = len(runs)
    for _ in range(3):
        torch.testing.assert_close(push(x), x.cos() * x)
    assert len(runs) == before


def test_the_length_of_v(model, x):
    v = torch.tensor([3.0, 0, 4]).double()
    slope = jvp(model, (x,), (v / v.norm(),))[1]
    torch.testing.assert_close(5 * slope, jvp(model, (x,), (v,))[1])
    torch.testing.assert_close(slope * 10, jvp(model, (x,), (2 * v,))[1])
    torch.testing.assert_close(5 * slope, by_hand(model, x) @ v)


def test_what_makes_a_product_zero(model, x):
    def silent(x):
        with torch.no_grad():
            return model(x)

    def cut(x):
        return model(x.detach())

    def constant(x):
        return x * x.sum().item()

    u = torch.ones(2).double()
    torch.testing.assert_close(jvp(constant, (x,), (x,))[1], x.sum() * x)
    torch.testing.assert_close(vjp(constant, x)[1](x)[0], x.sum() * x)
    assert jvp(cut, (x,), (x,))[1].eq(0).all()
    assert vjp(cut, x)[1](u)[0].eq(0).all()
    torch.testing.assert_close(jvp(silent, (x,), (x,))[1], by_hand(model, x) @ x)
    assert vjp(silent, x)[1](u)[0].eq(0).all()


WARNS = """
import warnings
import torch
from torch.func import jvp, linearize, vjp
model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh())
x = torch.ones(3)
model.requires_grad_(False)
for call in (
    lambda: vjp(model, x)[1](torch.ones(2)),
    lambda: jvp(model, (x,), (x,)),
    lambda: linearize(model, x)[1](x),
):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    print(*sorted({f"{w.category.__name__}: {w.message}" for w in caught}), sep="|")
"""


def test_the_warnings():
    ran = subprocess.run(
        [sys.executable, "-c", WARNS], capture_output=True, text=True, check=True
    )
    none, forward, linear = ran.stdout.splitlines()
    assert not none
    if forward:
        assert_documented(PAGE, "FutureWarning: `torch.jit", forward)
    if linear:
        assert "Attempted to insert a get_attr Node with no underlying ref" in linear


def test_linearize_does_not_branch(x):
    def f(x):
        return x * 2 if x.sum() > 0 else x * 3

    x = x.abs()
    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        linearize(f, x)
    assert torch.equal(jvp(f, (x,), (x,))[1], 2 * x)


def without_forward_mode(f, x, v):
    return older.jvp(f, x, v)[1]


def test_without_forward_mode(model, x):
    v = torch.randn(3).double()
    torch.testing.assert_close(without_forward_mode(model, x, v), by_hand(model, x) @ v)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        without_forward_mode(model, x, v)


def test_layers_without_forward_mode():
    torch.manual_seed(0)
    lstm = nn.LSTM(3, 4, batch_first=True).requires_grad_(False)
    s, v = torch.randn(2, 1, 5, 3)

    def f(s):
        return lstm(s)[0]

    with raises_as_documented(
        PAGE, "NotImplementedError: Trying to use forward AD with mk"
    ):
        jvp(f, (s,), (v,))
    torch.testing.assert_close(
        without_forward_mode(f, s, v), difference(f, s, v, 1e-2), rtol=0.02, atol=1e-3
    )
    q, v = torch.randn(2, 1, 2, 5, 8)

    def attend(q):
        return F.scaled_dot_product_attention(q, q, q)

    fused = "NotImplementedError: Trying to use forward AD with _scaled_dot_product"
    with raises_as_documented(PAGE, fused):
        jvp(attend, (q,), (v,))
    with sdpa_kernel(SDPBackend.MATH):
        found = jvp(attend, (q,), (v,))[1]
    torch.testing.assert_close(
        found, difference(attend, q, v, 1e-2), rtol=0.02, atol=1e-2
    )


def test_the_fast_path_of_a_transformer():
    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model.eval().requires_grad_(False).double()
    x, v = torch.randn(2, 2, 5, 8).double()
    fast = "NotImplementedError: Trying to use forward AD with aten::_transformer"
    with sdpa_kernel(SDPBackend.MATH):
        with raises_as_documented(PAGE, fast):
            jvp(model, (x,), (v,))
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            found = jvp(model, (x,), (v,))[1]
        finally:
            torch.backends.mha.set_fastpath_enabled(True)
    torch.testing.assert_close(found, difference(model, x, v), rtol=1e-4, atol=1e-6)


def test_dropout_in_training(x):
    f = nn.Sequential(nn.Dropout(), nn.Linear(3, 2, dtype=x.dtype))
    vs = torch.randn(5, 3, dtype=x.dtype)
    with raises_as_documented(PAGE, "RuntimeError: vmap: called random"):
        vmap(linearize(f, x)[1])(vs)
    found = vmap(linearize(f.eval(), x)[1])(vs)
    torch.testing.assert_close(found, vs @ f[1].weight.T)


class Square(torch.autograd.Function):
    """With backward alone."""

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.saved_tensors[0] * grad


class OldSquare(Square):
    """Without setup_context."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    setup_context = torch.autograd.Function.setup_context


def test_a_function_with_backward_alone(x):
    with raises_as_documented(PAGE, "NotImplementedError: You must implement the jvp"):
        jvp(Square.apply, (x,), (x,))
    torch.testing.assert_close(without_forward_mode(Square.apply, x, x), 2 * x * x)
    with raises_as_documented(PAGE, "RuntimeError: In order to use an autograd"):
        jvp(OldSquare.apply, (x,), (x,))
    torch.testing.assert_close(without_forward_mode(OldSquare.apply, x, x), 2 * x * x)


def test_batchnorm():
    layer, batch = nn.BatchNorm1d(3), torch.randn(4, 3)
    for product in (lambda: jvp(layer, (batch,), (batch,)), lambda: vjp(layer, batch)):
        layer.train()
        with raises_as_documented(PAGE, "RuntimeError: During a grad"):
            product()
        layer.eval()
        product()


def test_messages_of_jvp(model, x):
    with raises_as_documented(PAGE, "RuntimeError: jvp(f, primals, tangents)"):
        jvp(model, x, x)
    with raises_as_documented(PAGE, "RuntimeError: Trying to set a forward"):
        jvp(model, (x,), (torch.ones(4).double(),))
    v, batch = torch.tensor([1, 0, 0]), torch.randn(4, 3).double()
    with raises_as_documented(PAGE, "ValueError: Expected tangent"):
        jvp(model, (x,), (v,))
    v = v.double()
    with raises_as_documented(PAGE, "RuntimeError: Trying to set a forward"):
        jvp(model, (batch,), (v,))
    found = jvp(model, (batch,), (v.expand_as(batch),))[1]
    expected = torch.stack([by_hand(model, row) @ v for row in batch])
    torch.testing.assert_close(found, expected)


def test_messages_of_vjp(model, x):
    _, pull = vjp(model, x)
    with raises_as_documented(PAGE, "RuntimeError: Mismatch in shape"):
        pull(x)
    u = torch.randn(2).double()
    expected = u @ by_hand(model, x)
    _, pull = vjp(lambda x: (model(x), x), x)
    with raises_as_documented(PAGE, "RuntimeError: Expected pytree structure"):
        pull(u)
    torch.testing.assert_close(pull((u, x))[0], expected + x)
    _, pull = vjp(lambda x: {"a": model(x)}, x)
    torch.testing.assert_close(pull({"a": u})[0], expected)


def test_the_variants(model, x):
    batch, vs = torch.randn(2, 4, 3).double()
    found = jvp(model.eval(), (batch,), (vs,))[1]
    rows = zip(batch, vs, strict=True)
    expected = torch.stack([by_hand(model, row) @ v for row, v in rows])
    torch.testing.assert_close(found, expected)

    p = {k: w.detach() for k, w in model.named_parameters()}
    d = {k: torch.randn_like(w) for k, w in p.items()}
    found = jvp(lambda p: functional_call(model, p, x), (p,), (d,))[1]
    ends = [{k: w + h * d[k] for k, w in p.items()} for h in (1e-5, -1e-5)]
    up, down = (functional_call(model, end, x) for end in ends)
    torch.testing.assert_close(found, (up - down) / 2e-5, rtol=1e-6, atol=1e-8)

    z, v = torch.randn(2, 3).double()
    some = jvp(lambda x: x * z, (x,), (v,))[1]
    torch.testing.assert_close(some, v * z)
    both = jvp(torch.mul, (x, z), (v, torch.zeros_like(z)))[1]
    torch.testing.assert_close(both, v * z)

    extra = x.sum()
    *_, aux = jvp(lambda x: (model(x), extra), (x,), (v,), has_aux=True)
    assert aux == extra
    u = torch.randn(2).double()
    jacobian = by_hand(model, x)
    torch.testing.assert_close(older.jvp(model, x, v)[1], jacobian @ v)
    torch.testing.assert_close(older.vjp(model, x, u)[1], u @ jacobian)


def test_it_is_quoted_whole():
    assert quoted(PAGE, "FutureWarning").endswith("`torch.export`.")
