"""pde-derivatives: functions whose derivatives are known; each message raised."""

import pytest
import torch
from torch import nn
from torch.autograd import grad

from tests.helpers import load_snippet, raises_as_documented

PAGE = "autograd/pde-derivatives"
residual = load_snippet("autograd/pde_derivatives.py").residual


@pytest.fixture
def points():
    torch.manual_seed(0)
    return torch.rand(2, 6, 1, dtype=torch.float64)  # x and t


def test_the_residual_of_functions_that_are_known(points):
    x, t = points
    heat = residual(lambda xt: xt[:, :1].sin() * (-xt[:, 1:]).exp(), x, t)
    torch.testing.assert_close(heat, torch.zeros_like(x))
    other = residual(lambda xt: xt[:, :1] ** 3 * xt[:, 1:] ** 2, x, t)
    torch.testing.assert_close(other, x**3 * 2 * t - 6 * x * t**2)
    assert not x.requires_grad


def test_the_residual_trains_the_weights(points):
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)).double()
    residual(model, *points).square().mean().backward()
    assert model[0].weight.grad.ne(0).any()
    relu = nn.Sequential(model[0], nn.ReLU(), model[2])
    x = points[0].requires_grad_()
    (slope,) = grad(relu(torch.cat([x, x], 1)).sum(), x, create_graph=True)
    assert not slope.sum().requires_grad or grad(slope.sum(), x)[0].eq(0).all()


def test_a_column_of_the_derivative_by_both(points):
    xt = points.squeeze(-1).mT.contiguous().requires_grad_()
    u = xt[:, :1] ** 2 * xt[:, 1:]
    u_x = grad(u.sum(), xt, create_graph=True)[0][:, :1]
    torch.testing.assert_close(u_x, 2 * xt[:, :1] * xt[:, 1:])
    ones = grad(u, xt, grad_outputs=torch.ones_like(u), create_graph=True)[0]
    torch.testing.assert_close(u_x, ones[:, :1])
    u_xx = grad(u_x.sum(), xt)[0][:, :1]
    torch.testing.assert_close(u_xx, 2 * xt[:, 1:])


def test_batch_norm_mixes_the_points(points):
    model = nn.Sequential(
        nn.Linear(2, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1)
    )
    model.double()
    (a, b), (c, d) = points, points.clone()
    c[-1] += 1  # another last point
    first, second = residual(model, a, b), residual(model, c, d)
    assert (first - second)[:-1].abs().max() > 1e-6
    model.eval()
    first, second = residual(model, a, b), residual(model, c, d)
    torch.testing.assert_close(first[:-1], second[:-1])


def test_messages(points):
    x = points[0].requires_grad_()
    (u_x,) = grad((x**3).sum(), x)
    with raises_as_documented(PAGE, "RuntimeError: element 0 of tensors"):
        grad(u_x.sum(), x)
    xt = points.detach().squeeze(-1).mT.requires_grad_()
    u = (xt**2).sum(1)
    with raises_as_documented(PAGE, "RuntimeError: The differentiated Tensor"):
        grad(u.sum(), xt[:, 0])


def test_a_linear_network_has_a_second_derivative_of_zero():
    x = torch.randn(5, 2, requires_grad=True)
    (slope,) = torch.autograd.grad(nn.Linear(2, 1)(x).sum(), x, create_graph=True)
    with raises_as_documented(PAGE, "RuntimeError: The differentiated Tensor"):
        torch.autograd.grad(slope.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x, materialize_grads=True)
    assert torch.equal(second, torch.zeros(5, 2))
    (slope,) = torch.autograd.grad((2 * x).sum(), x, create_graph=True)
    with raises_as_documented(PAGE, "RuntimeError: element 0 of tensors"):
        torch.autograd.grad(slope.sum(), x)


def test_an_unknown_coefficient_gets_a_gradient(points):
    x = points[0].requires_grad_()
    c = nn.Parameter(torch.ones((), dtype=torch.float64))
    (u_x,) = grad((x**2).sum(), x, create_graph=True)
    (u_x - c * x).square().mean().backward()
    torch.testing.assert_close(c.grad, (-2 * (2 * x - x) * x).mean())
