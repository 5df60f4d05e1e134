"""custom-autograd-function, its variant: gradients worked by hand."""

import torch

from tests.helpers import load_snippet, raises_as_documented

PAGE = "autograd/custom-autograd-function"
ReverseGradient = load_snippet("autograd/gradient_reversal.py").ReverseGradient


def test_reversed():
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    y = ReverseGradient.apply(x, 0.25)
    assert torch.equal(y, x)
    (y * torch.tensor([2.0, 4.0])).sum().backward()
    torch.testing.assert_close(x.grad, torch.tensor([-0.5, -1.0]))


def test_a_gradient_is_missing(monkeypatch):
    monkeypatch.setattr(
        ReverseGradient, "backward", staticmethod(lambda ctx, grad: -grad)
    )
    with raises_as_documented(PAGE, "RuntimeError: function ReverseGradientBackward"):
        ReverseGradient.apply(torch.ones(2, requires_grad=True), 1.0).sum().backward()
