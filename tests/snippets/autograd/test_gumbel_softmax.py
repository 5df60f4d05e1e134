"""gumbel-softmax: frequencies, the gradient of the soft sample, the trick."""

import numpy as np
import pytest
import torch
from scipy.special import softmax
from torch import nn
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import load_snippet

snippet = load_snippet("autograd/gumbel_softmax.py")
LOGITS = [1.0, 0.0, -1.0]


def draw(rows, seed=0, tau=1.0, hard=True, logits=LOGITS):
    torch.manual_seed(seed)
    logits = torch.tensor(logits).repeat(rows, 1).requires_grad_()
    return logits, F.gumbel_softmax(logits, tau=tau, hard=hard)


def test_frequencies_are_the_softmax():
    _, y = draw(40000)
    assert y.detach().unique().tolist() == pytest.approx([0, 1], abs=1e-6)
    torch.testing.assert_close(y.sum(1), torch.ones(40000))
    np.testing.assert_allclose(y.detach().mean(0), softmax(LOGITS), atol=0.01)


@pytest.mark.parametrize("tau", [0.5, 1.0, 2.0])
def test_the_gradient_is_that_of_the_soft_sample(tau):
    logits, y = draw(50, tau=tau)
    cost = torch.tensor([3.0, 1.0, 2.0])
    (y * cost).sum().backward()
    _, soft = draw(50, tau=tau, hard=False)
    s, c = soft.detach().double().numpy(), cost.double().numpy()
    expected = s * (c - (s * c).sum(1, keepdims=True)) / tau  # softmax by hand
    np.testing.assert_allclose(logits.grad, expected, rtol=1e-3, atol=1e-6)


def test_feature_maps_need_their_dimension():
    logits = torch.randn(2, 3, 4, 5)
    for dim, options in ((1, {"dim": 1}), (3, {})):
        y = F.gumbel_softmax(logits, hard=True, **options)
        torch.testing.assert_close(y.sum(dim), torch.ones_like(y.sum(dim)))


def test_the_snippet():
    assert snippet.weight.argmax() == snippet.cost.argmin()
    probs = softmax(snippet.weight.detach().numpy())
    assert probs[1] > 0.8
    assert snippet.loss < 1.5
    assert snippet.y.shape == (32, 3)


@pytest.mark.parametrize("shape", [(5, 3), (2, 7, 3)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_answer_on_a_batch_and_on_sequences(shape, dtype):
    logits = torch.randn(shape, dtype=dtype).requires_grad_()
    names = {"logits": logits}
    exec(answer("gumbel-softmax"), names)
    y = names["y"]
    assert y.dtype == torch.float32
    assert (y.detach().round().sum(-1) == 1).all()
    (y * torch.arange(3)).sum().backward()
    assert logits.grad.abs().sum() > 0


def test_the_answer_has_no_nan_in_float16(monkeypatch):
    """The smallest noise, 2^-26, is 0 in float16; torch's own call is NaN there."""
    exponential = torch.Tensor.exponential_

    def smallest(noise):
        exponential(noise).view(-1)[0] = 2.0**-26
        return noise

    monkeypatch.setattr(torch.Tensor, "exponential_", smallest)
    logits = torch.zeros(2, 3, dtype=torch.float16)
    assert F.gumbel_softmax(logits, hard=True)[0].isnan().all()
    names = {"logits": logits}
    exec(answer("gumbel-softmax"), names)
    assert names["y"][0].tolist() == [1, 0, 0]


def test_argmax_cuts_the_graph():
    logits, y = draw(4)
    embedding = nn.Embedding(3, 5)
    assert embedding(y.argmax(-1)).sum().backward() is None
    assert logits.grad is None
    out = y @ embedding.weight
    torch.testing.assert_close(out, embedding(y.argmax(-1)))
    out.sum().backward()
    assert logits.grad.abs().sum() > 0


def test_probabilities_are_no_logits():
    p = torch.tensor([0.98, 0.01, 0.01])
    _, wrong = draw(5000, logits=p.tolist())
    _, right = draw(5000, logits=p.log().tolist())
    assert wrong.mean(0)[0] < 0.65
    assert right.mean(0)[0] > 0.96


def test_tau_and_the_size_of_gradients():
    spread = []
    for tau in (10, 1, 0.1):
        logits, y = draw(5000, tau=tau, hard=False)
        (y * torch.tensor([3.0, 1.0, 2.0])).sum().backward()
        spread.append(logits.grad.std().item())
        if tau == 0.1:
            near_zero = (logits.grad.abs() < 1e-3).all(1).float().mean()
    assert spread[0] < spread[1] / 4
    assert spread[1] < spread[2] / 3
    assert near_zero > 0.3


def test_it_draws_in_eval_mode_and_one_hot_does_not():
    _, first = draw(200, seed=0)
    _, second = draw(200, seed=1)
    assert not torch.equal(first, second)
    logits = torch.tensor([LOGITS])
    assert F.one_hot(logits.argmax(-1), 3).float().tolist() == [[1, 0, 0]]
