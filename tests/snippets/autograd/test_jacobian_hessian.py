"""jacobian-hessian: against formulas worked by hand; each message raised."""

import sys

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "autograd/jacobian-hessian"
snippet = load_snippet("autograd/jacobian_hessian.py")
model, f, x, v, batch = (getattr(snippet, n) for n in ("model", "f", "x", "v", "batch"))


def by_hand(x):
    """J and H of the two layers with tanh between, and |model(x)|² as f."""
    (w1, b1), (w2, b2) = ((m.weight, m.bias) for m in (model[0], model[2]))
    h = torch.tanh(w1 @ x + b1)
    slope = 1 - h**2
    jacobian = w2 * slope @ w1
    out = w2 @ h + b2
    curvature = torch.diag(-2 * h * slope * (w2.T @ out))
    return jacobian, 2 * (jacobian.T @ jacobian + w1.T @ curvature @ w1)


def test_what_is_shown_equals_the_formulas():
    jacobian, curvature = by_hand(x)
    torch.testing.assert_close(snippet.J, jacobian)
    torch.testing.assert_close(snippet.H, curvature)
    torch.testing.assert_close(snippet.Hv, curvature @ v)
    torch.testing.assert_close(snippet.Js, torch.stack([by_hand(b)[0] for b in batch]))
    shown = snippet.J, snippet.Js, snippet.H, snippet.Hv
    assert not any(t.requires_grad for t in shown)
    assert batch.shape == (5, 3)
    assert not torch.equal(batch[0], batch[1])


def test_the_answer_for_a_model_in_float64_with_one_output():
    torch.manual_seed(0)
    own = nn.Sequential(nn.Linear(4, 1), nn.GELU()).double().requires_grad_(False)
    x, v = torch.randn(2, 4, dtype=torch.float64)
    names = {"model": own, "x": x, "v": v, "batch": x[None]}
    names["f"] = lambda x: own(x).sum()
    exec(answer("jacobian-hessian"), names)
    torch.testing.assert_close(names["Js"][0], names["J"])
    old = torch.autograd.functional.hessian(names["f"], x)
    torch.testing.assert_close(names["H"], old)
    torch.testing.assert_close(names["Hv"], old @ v)


def test_with_weights_that_train_there_is_a_graph():
    trained = nn.Linear(3, 2)
    assert jacrev(trained)(x).requires_grad


def test_the_batch_without_vmap():
    whole = jacrev(model)(batch)
    assert whole.shape == (5, 2, 5, 3)
    own = whole.diagonal(dim1=0, dim2=2).permute(2, 0, 1)
    torch.testing.assert_close(own, snippet.Js)
    assert (whole.abs().amax(dim=(1, 3)) != 0).sum() == 5  # only n with n
    images = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 3))
    each = vmap(jacrev(lambda x: images(x[None])[0]))(torch.randn(5, 1, 4, 4))
    assert each.shape == (5, 3, 1, 4, 4)


def test_relu_has_no_curvature():
    relu = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    assert jacrev(jacrev(lambda x: relu(x).sum()))(x).eq(0).all()
    for smooth in (nn.Tanh(), nn.GELU(), nn.SiLU()):
        net = nn.Sequential(relu[0], smooth, relu[2])
        assert jacrev(jacrev(lambda x, net=net: net(x).sum()))(x).ne(0).any()


@pytest.mark.skipif(torch.__version__ < "2.14", reason="a DeprecationWarning there")
def test_forward_mode_warns_when_it_is_first_used(monkeypatch):
    name = "torch._decomp.decompositions_for_jvp"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delattr(name, raising=False)
    with raises_as_documented(PAGE, "FutureWarning: `torch.jit"):
        hessian(f)(x)


@pytest.mark.filterwarnings("ignore:.torch.jit.script")
def test_forward_mode_gives_the_same_or_is_missing():
    torch.testing.assert_close(hessian(f)(x), snippet.H)
    torch.testing.assert_close(jacfwd(jacrev(f))(x), snippet.H)
    torch.testing.assert_close(jacfwd(model)(x), snippet.J)
    lstm = nn.LSTM(3, 4, batch_first=True)
    text = torch.randn(1, 5, 3)
    with raises_as_documented(PAGE, "NotImplementedError: Trying to use forward AD"):
        hessian(lambda x: lstm(x)[0].sum())(text)
    twice = jacrev(jacrev(lambda x: lstm(x)[0].sum()))(text)
    assert twice.shape == (1, 5, 3, 1, 5, 3)
    assert twice.ne(0).any()


def test_what_is_refused():
    with raises_as_documented(PAGE, "RuntimeError: grad_and_value"):
        grad(model)(x)
    with raises_as_documented(PAGE, "RuntimeError: vmap: It looks"):
        vmap(jacrev(lambda x: x * x.sum().item()))(batch)
    with raises_as_documented(PAGE, "RuntimeError: vmap: It looks"):
        vmap(jacrev(lambda x: x if x.sum() > 0 else -x))(batch)
    layers = {
        "RuntimeError: vmap: called random": nn.Dropout(),
        "RuntimeError: During a grad": nn.BatchNorm1d(3),
    }
    for message, layer in layers.items():
        each = vmap(jacrev(lambda x, layer=layer: layer(x[None])[0]))
        with raises_as_documented(PAGE, message):
            each(torch.randn(5, 3, 2))
        layer.eval()
        assert each(torch.randn(5, 3, 2)).shape == (5, 3, 2, 3, 2)
    with raises_as_documented(PAGE, "RuntimeError: backward() called"):
        grad(lambda x: x.sum().backward())(x)

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad

    with raises_as_documented(PAGE, "RuntimeError: In order to use an autograd"):
        jacrev(Double.apply)(x)
    eye = torch.autograd.functional.jacobian(Double.apply, x)
    assert torch.equal(eye, 2 * torch.eye(3))


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_the_second_derivative_of_attention():
    q = torch.randn(1, 1, 2, 3)

    def attend(q):
        return F.scaled_dot_product_attention(q, q, q).sum()

    with raises_as_documented(PAGE, "RuntimeError: derivative for aten::_scaled"):
        jacrev(jacrev(attend))(q)
    with sdpa_kernel(SDPBackend.MATH):
        plain = jacrev(jacrev(attend))(q)
    assert plain.ne(0).any()


def test_variants():
    torch.testing.assert_close(jacrev(model, chunk_size=1)(x), snippet.J)
    old = torch.autograd.functional
    torch.testing.assert_close(old.hessian(f, x), snippet.H)
    torch.testing.assert_close(old.jacobian(model, x), snippet.J)
    laplacian = vmap(jacrev(jacrev(f)))(batch).diagonal(dim1=1, dim2=2).sum(1)
    expected = torch.stack([by_hand(b)[1].trace() for b in batch])
    torch.testing.assert_close(laplacian, expected)


def test_the_hessian_in_the_weights():
    linear, y = nn.Linear(3, 1), torch.randn(5, 1)
    p = {k: w.detach() for k, w in linear.named_parameters()}
    blocks = jacrev(jacrev(lambda p: F.mse_loss(functional_call(linear, p, batch), y)))(
        p
    )
    expected = 2 * batch.T @ batch / 5
    torch.testing.assert_close(blocks["weight"]["weight"].view(3, 3), expected)
    torch.testing.assert_close(blocks["bias"]["bias"].item(), 2.0)
