"""custom-autograd-function: against the built-in, finite differences and hand work."""

import pytest
import torch

from tests.helpers import load_snippet, raises_as_documented

PAGE = "autograd/custom-autograd-function"
Swish = load_snippet("autograd/custom_autograd_function.py").Swish


class Project(torch.autograd.Function):
    """x @ w, whose backward forgets the factor w."""

    @staticmethod
    def forward(ctx, x, w):
        return x @ w

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


@pytest.mark.parametrize("value", [-3.0, 0.0, 0.7, 5.0])
def test_value_and_slope(value):
    x = torch.tensor(value, dtype=torch.float64, requires_grad=True)
    y = Swish.apply(x)
    y.backward()
    built_in = x.detach().clone().requires_grad_()
    torch.nn.functional.silu(built_in).backward()
    torch.testing.assert_close(y.detach(), torch.nn.functional.silu(x.detach()))
    torch.testing.assert_close(x.grad, built_in.grad)


def test_only_the_input_is_kept():
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: kept.append(t.shape) or t, lambda t: t
    ):
        Swish.apply(torch.ones(3, requires_grad=True))
    assert kept == [(3,)]


def test_a_wrong_formula_is_found():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 2 * x**2

    x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    with raises_as_documented(PAGE, "GradcheckError: Jacobian mismatch for output 0"):
        torch.autograd.gradcheck(Cube.apply, (x,))


def test_float32_is_too_rough():
    x = torch.tensor([0.7, -1.3])
    with pytest.warns(match="double"), pytest.raises(RuntimeError):
        torch.autograd.gradcheck(Swish.apply, (x.requires_grad_(),))


def test_a_gradient_of_another_shape():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, 3)
    with raises_as_documented(PAGE, "RuntimeError: Function ProjectBackward returned"):
        Project.apply(x, w).sum().backward()


def test_functorch_needs_setup_context():
    with raises_as_documented(PAGE, "RuntimeError: In order to use an autograd."):
        torch.vmap(Swish.apply)(torch.ones(3, 2))
