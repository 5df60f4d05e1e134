"""logsumexp-stability: against SciPy and float64, and the gradients."""

import math
import warnings

import numpy as np
import pytest
import scipy.special
import torch
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/logsumexp-stability"
snippet = load_snippet("tensors/logsumexp_stability.py")
x = snippet.x.detach().double().numpy()


def test_the_values_are_those_of_scipy():
    close = np.testing.assert_allclose
    assert x.tolist() == [[-200, 200]]
    log_p = scipy.special.log_softmax(x, axis=-1)
    close(snippet.log_p.detach(), log_p)
    close(snippet.total.detach(), scipy.special.logsumexp(x, axis=-1))
    close(snippet.log_yes.detach(), scipy.special.log_expit(x), atol=1e-30)
    close(snippet.log_no.detach(), scipy.special.log_expit(-x), atol=1e-30)
    close(snippet.soft.detach(), np.logaddexp(0, x), atol=1e-30)
    close(snippet.either.detach(), np.logaddexp(*log_p.T), atol=1e-30)
    close(snippet.entropy.detach(), [0], atol=1e-30)


def test_what_overflows():
    e = torch.tensor([88.0, 89.0]).exp()
    assert e.isfinite().tolist() == [True, False]
    e = torch.tensor([11.0, 12.0]).half().exp()
    assert e.isfinite().tolist() == [True, False]
    for naive, stable in [
        (lambda x: x.softmax(-1).log(), lambda x: x.log_softmax(-1)),
        (lambda x: x.exp().sum(-1).log(), lambda x: x.logsumexp(-1)),
        (lambda x: (1 + x.exp()).log(), F.softplus),
        (lambda x: x.sigmoid().log(), F.logsigmoid),
        (lambda x: (1 - x.sigmoid()).log(), lambda x: F.logsigmoid(-x)),
    ]:
        small = torch.tensor([[-1.0, 2.0]])
        torch.testing.assert_close(naive(small), stable(small))
        large = snippet.x.detach().requires_grad_()
        assert not naive(large).isfinite().all()
        (grad,) = torch.autograd.grad(stable(large).sum(), large)
        assert grad.isfinite().all()
        wanted = snippet.x.detach().double().requires_grad_()
        (exact,) = torch.autograd.grad(stable(wanted).sum(), wanted)
        torch.testing.assert_close(grad.double(), exact)


def test_the_entropy_has_a_gradient():
    logits = torch.tensor([[0.3, -1.0, 2.0]], dtype=torch.float64)
    log_p = logits.log_softmax(-1)
    entropy = -(log_p.exp() * log_p).sum(-1)
    expected = scipy.special.entr(scipy.special.softmax(logits, axis=-1)).sum()
    assert entropy.item() == pytest.approx(expected)
    (grad,) = torch.autograd.grad(snippet.entropy.sum(), snippet.x, retain_graph=True)
    assert grad.isfinite().all()


def test_the_table():
    tiny = torch.tensor(1e-8)
    assert (1 + tiny).log() == 0
    assert tiny.log1p().item() == pytest.approx(1e-8)
    assert tiny.exp() - 1 == 0
    assert tiny.expm1().item() == pytest.approx(1e-8)
    p, q = torch.tensor([0.0, 1.0]), torch.tensor([0.0, 0.5])
    assert (p * q.log())[0].isnan()
    expected = scipy.special.xlogy(p.numpy(), q.numpy())
    np.testing.assert_allclose(torch.xlogy(p, q), expected)
    q.requires_grad_()
    assert torch.autograd.grad(torch.xlogy(p, q).sum(), q)[0][0].isnan()
    log_p = torch.tensor([-1e-9, -0.5])
    assert (1 - log_p.exp()).log()[0] == -math.inf
    exact = np.log(-np.expm1(log_p.double().numpy()))
    np.testing.assert_allclose((-log_p.expm1()).log(), exact, rtol=1e-5)
    z = torch.tensor([1000.0, 1000.0])
    expected = np.logaddexp.accumulate(z.double().numpy())
    np.testing.assert_allclose(z.logcumsumexp(0), expected)
    zero = torch.zeros(2, requires_grad=True)
    (bad,) = torch.autograd.grad(zero.pow(2).sum().sqrt(), zero)
    (good,) = torch.autograd.grad(torch.linalg.vector_norm(zero), zero)
    assert bad.isnan().all()
    assert good.tolist() == [0, 0]


def test_where_does_not_keep_the_logarithm_of_zero_out_of_the_gradient():
    z = torch.tensor([0.0, 2.0], requires_grad=True)
    y = torch.where(z > 0, z.log(), 0.0)
    assert y.isfinite().all()
    (bad,) = torch.autograd.grad(y.sum(), z)
    assert bad[0].isnan()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_the_answer_in_other_dtypes(dtype):
    x = torch.tensor([[-60.0, 60.0], [0.25, -0.5]], dtype=dtype).requires_grad_()
    names = {"x": x}
    exec(answer("logsumexp-stability"), names)
    exact = x.detach().double().numpy()
    for name, expected in {
        "log_p": scipy.special.log_softmax(exact, axis=-1),
        "total": scipy.special.logsumexp(exact, axis=-1),
        "log_no": scipy.special.log_expit(-exact),
        "soft": np.logaddexp(0, exact),
        "either": np.zeros(2),
    }.items():
        found = names[name].detach()
        assert found.dtype == dtype
        np.testing.assert_allclose(found.double(), expected, rtol=0.01, atol=0.01)
    names["entropy"].sum().backward()
    assert x.grad.isfinite().all()


def test_an_epsilon_hides_the_gradient():
    z = torch.tensor(-200.0, requires_grad=True)
    y = (z.sigmoid() + 1e-8).log()
    assert y.item() == pytest.approx(-18.4, abs=0.05)
    assert torch.autograd.grad(y, z)[0] == 0
    assert torch.autograd.grad(F.logsigmoid(z), z)[0] == 1
    assert 1 + torch.tensor(1e-8) == 1
    assert torch.tensor(1e-8, dtype=torch.float16) == 0


@pytest.mark.parametrize("mask", [[False, False], [True, False]])
def test_masked_rows(mask):
    mask = torch.tensor(mask)
    z = torch.tensor([1.0, 2.0], requires_grad=True)

    def entropy(log_p):
        return -(log_p.exp() * log_p).sum()

    infinite = z.masked_fill(~mask, -math.inf)
    assert entropy(infinite.log_softmax(0)).isnan()
    if mask.any():
        found = torch.distributions.Categorical(logits=infinite).entropy()
        assert found.item() == 0  # one class is left
        (grad,) = torch.autograd.grad(found, z, retain_graph=True)
        assert grad.isfinite().all()
    lowest = z.masked_fill(~mask, torch.finfo(z.dtype).min)
    for y in (entropy(lowest.log_softmax(0)), lowest.logsumexp(0)):
        assert y.isfinite()
        assert torch.autograd.grad(y, z, retain_graph=True)[0].isfinite().all()
    if not mask.any():
        assert infinite.log_softmax(0).isnan().all()
        assert torch.autograd.grad(infinite.logsumexp(0), infinite)[0].isnan().all()


def test_messages():
    z = torch.tensor([1.0, 2.0])
    if torch.__version__ >= "2.13":
        with raises_as_documented(PAGE, "TypeError: logsumexp() missing"):
            z.logsumexp()
    else:
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            z.logsumexp()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with raises_as_documented(PAGE, "UserWarning: Implicit dimension"):
            F.log_softmax(z)


def test_the_log_of_a_mean():
    members = torch.tensor([[-800.0, -1.0], [-801.0, -2.0]])
    expected = scipy.special.logsumexp(members, axis=0, b=1 / 2)
    np.testing.assert_allclose(members.logsumexp(0) - math.log(2), expected)
