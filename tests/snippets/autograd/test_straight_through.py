"""gumbel-softmax, its variant: values and gradients worked by hand."""

import pytest
import torch

from tests.helpers import load_snippet

snippet = load_snippet("autograd/straight_through.py")


def test_straight_through():
    assert snippet.y.tolist() == [0, 1]
    assert snippet.soft.grad.tolist() == [1, 1]
    # A steeper loss: the gradient is that of the value, passed on as it is.
    soft = torch.tensor([0.2, 0.7], requires_grad=True)
    hard = (soft > 0.5).float()
    y = hard - soft.detach() + soft
    (3 * y.square()).sum().backward()
    assert soft.grad.tolist() == [0, 6]


def test_round_and_vq():
    x = torch.tensor([0.2, 1.7], requires_grad=True)
    y = x.round() - x.detach() + x
    y.square().sum().backward()
    assert y.tolist() == pytest.approx([0, 2])
    assert x.grad.tolist() == pytest.approx([0, 4])
    z, code = torch.zeros(3, requires_grad=True), torch.ones(3)
    q = z + (code - z).detach()
    q.sum().backward()
    assert q.tolist() == [1, 1, 1] == z.grad.tolist()
