"""kl-div: against SciPy, torch.distributions and hand-worked cases."""

import math

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy
from torch.distributions import Normal, kl_divergence
from torch.nn import functional as F

from tests.helpers import assert_documented, load_snippet, raises_as_documented

PAGE = "training/kl-div"
snippet = load_snippet("training/kl_div.py")
P, Q = torch.randn(2, 4, 3).double().softmax(-1)


def mean_kl(p, q):
    return entropy(p.numpy(), q.numpy(), axis=-1).mean()


def test_the_loss_is_that_of_scipy():
    p, q = (t.double().softmax(1) for t in (snippet.teacher, snippet.student))
    assert snippet.loss.item() == pytest.approx(mean_kl(p, q), rel=1e-4)
    assert mean_kl(p, q) != pytest.approx(mean_kl(q, p), rel=1e-3)


def test_wrong_arguments_give_negative_losses():
    near = torch.full((1, 3), 1 / 3)
    assert F.kl_div(near, near, reduction="batchmean") < 0  # probabilities first
    assert F.kl_div(near.log(), near / 2, reduction="batchmean") < 0  # sum 1/2
    logits = torch.tensor([[1.0, 2.0, 3.0]])
    assert F.kl_div(logits, near, reduction="batchmean") < 0  # logits first
    assert F.kl_div(near.log(), -logits, reduction="batchmean").isnan()


def test_mean_is_c_times_too_small():
    with pytest.warns(UserWarning, match="batchmean") as caught:
        mean = F.kl_div(Q.log(), P)
    assert_documented(
        PAGE, "UserWarning: reduction", f"UserWarning: {caught[0].message}"
    )
    assert 3 * mean.item() == pytest.approx(mean_kl(P, Q))


def test_zeros_and_logarithms():
    one, half = torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]])
    options = {"reduction": "batchmean"}
    assert F.kl_div(half.log(), one, **options).item() == pytest.approx(math.log(2))
    assert F.kl_div(one.log(), half, **options) == math.inf
    assert F.kl_div(half.log(), one.log(), log_target=True, **options).isnan()
    assert F.kl_div(Q.log(), P.log(), **options).isnan()
    loss = F.kl_div(Q.log(), P.log(), log_target=True, **options)
    assert loss.item() == pytest.approx(mean_kl(P, Q))


def test_sequences():
    p, q = torch.randn(2, 2, 5, 3).double().softmax(-1)
    long = F.kl_div(q.log(), p, reduction="batchmean").item()
    flat = F.kl_div(q.log().flatten(0, 1), p.flatten(0, 1), reduction="batchmean")
    assert long == pytest.approx(5 * mean_kl(p, q))
    assert flat.item() == pytest.approx(mean_kl(p, q))


def test_cross_entropy_differs_by_the_entropy():
    logits = torch.randn(4, 3).double()
    ce = F.cross_entropy(logits, P)
    kl = F.kl_div(logits.log_softmax(1), P, reduction="batchmean")
    assert (ce - kl).item() == pytest.approx(entropy(P.numpy(), axis=1).mean())


def test_variants():
    mu, logvar = torch.randn(2, 6, 4)
    kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(1).mean()
    standard = Normal(torch.zeros(6, 4), 1.0)
    expected = kl_divergence(Normal(mu, (logvar / 2).exp()), standard)
    torch.testing.assert_close(kl, expected.sum(1).mean())

    m = (P + Q) / 2
    halves = [F.kl_div(m.log(), d, reduction="batchmean") / 2 for d in (P, Q)]
    js = np.mean(jensenshannon(P.numpy(), Q.numpy(), axis=1) ** 2)
    assert sum(halves).item() == pytest.approx(js)


def test_messages_and_broadcasting():
    with raises_as_documented(PAGE, "RuntimeError: kl_div: Integral"):
        F.kl_div(Q.log(), torch.tensor([0, 1, 2, 0]), reduction="batchmean")
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a"):
        F.kl_div(Q.log(), P[:, :2], reduction="batchmean")
    F.kl_div(Q.log(), P[:1], reduction="batchmean")  # silent
