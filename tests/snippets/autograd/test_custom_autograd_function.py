"""custom-autograd-function: against the built-in, finite differences and hand work."""

import math

import numpy as np
import pytest
import torch
from torch.autograd.function import once_differentiable

from tests.chains.pasted import answer
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


def test_the_answer_has_its_class_and_its_call():
    names = {"x": torch.randn(2, 3, dtype=torch.bfloat16, requires_grad=True)}
    exec(answer("custom-autograd-function"), names)
    expected = torch.nn.functional.silu(names["x"].detach())
    torch.testing.assert_close(names["y"].detach(), expected)
    names["y"].sum().backward()
    assert names["x"].grad.dtype == torch.bfloat16


def test_a_second_derivative():
    x = torch.randn(4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(Swish.apply, (x,))


class Sine(torch.autograd.Function):
    """NumPy in both passes: the second derivative would be lost."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(np.sin(x.numpy(force=True)))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * torch.from_numpy(np.cos(x.numpy(force=True)))


def test_once_differentiable_raises_where_a_derivative_would_be_wrong():
    x = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    weight = torch.ones(1, dtype=torch.float64, requires_grad=True)

    def twice(sine):
        (first,) = torch.autograd.grad(
            (weight * x * sine.apply(x)).sum(), x, create_graph=True
        )
        x.grad = None
        first.sum().backward()
        return x.grad.item()

    right = 2 * math.cos(0.5) - 0.5 * math.sin(0.5)
    assert abs(twice(Sine) - right) > 0.1  # no error, and wrong

    class Once(Sine):
        backward = staticmethod(once_differentiable(Sine.backward))

    with pytest.raises(RuntimeError, match="once_differentiable"):
        twice(Once)


def test_needs_input_grad():
    asked = []

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x * w

        @staticmethod
        def backward(ctx, grad_output):
            _, w = ctx.saved_tensors
            asked.append(ctx.needs_input_grad)
            return grad_output * w, None

    x, w = torch.ones(2, requires_grad=True), torch.ones(2)
    Product.apply(x, w).sum().backward()
    assert asked == [(True, False)]


def test_autocast_needs_the_decorators():
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x @ w

        @staticmethod
        def backward(ctx, grad_output):
            x, w = ctx.saved_tensors
            return grad_output @ w.T, x.T @ grad_output

    class Cast(torch.autograd.Function):
        forward = staticmethod(torch.amp.custom_fwd(Product.forward, device_type="cpu"))
        backward = staticmethod(
            torch.amp.custom_bwd(Product.backward, device_type="cpu")
        )

    x, w = torch.randn(3, 4, requires_grad=True), torch.randn(4, 2, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        plain, cast = Product.apply(x, w), Cast.apply(x, w)
    with pytest.raises(RuntimeError, match="same dtype"):
        plain.sum().backward()
    cast.sum().backward()
    torch.testing.assert_close(
        x.grad, w.detach().sum(1).expand(3, 4), rtol=0.05, atol=0.05
    )


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


@pytest.mark.parametrize("rule", [False, True])
def test_gradients_of_each_sample(rule):
    class Function(torch.autograd.Function):
        generate_vmap_rule = rule
        backward = staticmethod(Swish.backward)

        @staticmethod
        def forward(x):
            return x * x.sigmoid()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

    def loss(x):
        return Function.apply(x).sum()

    x = torch.randn(3, 2, dtype=torch.float64)
    s = torch.special.expit(x)
    expected = s + x * s * (1 - s)
    torch.testing.assert_close(torch.func.grad(loss)(x), expected)
    each = torch.vmap(torch.func.grad(loss))
    if rule:
        torch.testing.assert_close(each(x), expected)
    else:
        with pytest.raises(RuntimeError, match="generate_vmap_rule=True"):
            each(x)
