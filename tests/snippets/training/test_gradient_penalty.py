"""gradient-penalty: against formulas worked by hand, and what it must train."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/gradient-penalty"
gradient_penalty = load_snippet("training/gradient_penalty.py").gradient_penalty


@pytest.fixture
def samples():
    return torch.randn(6, 3) + 1, torch.randn(6, 3)


@pytest.mark.parametrize("shape", [(5, 3), (5, 2, 4, 4)], ids=len)
def test_the_slope_of_a_plane(shape):
    w = torch.randn(shape[1:], requires_grad=True)
    penalty = gradient_penalty(
        lambda x: (x * w).flatten(1).sum(1), *torch.randn(2, *shape)
    )
    torch.testing.assert_close(penalty, (w.norm() - 1) ** 2)
    penalty.backward()
    expected = 2 * (w.norm() - 1) * w / w.norm()
    torch.testing.assert_close(w.grad, expected.detach())


def test_at_points_between_each_with_a_share_of_its_own(samples):
    seen = []

    def critic(x):
        seen.append(x.detach())
        return x.square().sum(1, keepdim=True) / 2  # its gradient is x

    real, fake = samples
    penalty = gradient_penalty(critic, real, fake)
    (x,) = seen
    torch.testing.assert_close(penalty, (x.norm(dim=1) - 1).square().mean())
    share = (x - fake) / (real - fake)
    torch.testing.assert_close(
        share, share[:, :1].expand_as(share), rtol=1e-2, atol=1e-3
    )
    assert (share.min() >= 0) & (share.max() <= 1)
    assert share[:, 0].std() > 0


def test_the_generator_gets_no_gradient_from_it(samples):
    real, fake = samples
    fake.requires_grad_()
    critic = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    penalty = gradient_penalty(critic, real, fake)
    assert critic[0].weight.grad is None
    penalty.backward()
    assert fake.grad is None
    assert critic[0].weight.grad.any()


def test_without_create_graph(samples):
    critic, x = nn.Linear(3, 1), samples[0].requires_grad_()
    (grad,) = torch.autograd.grad(critic(x).sum(), x)
    with raises_as_documented(PAGE, "RuntimeError: element 0"):
        (grad.norm(dim=1) - 1).square().mean().backward()


def test_where_the_gradient_is_zero(samples):
    critic = nn.Linear(3, 1)
    nn.init.zeros_(critic.weight)
    gradient_penalty(critic, *samples).backward()
    assert critic.weight.grad.isfinite().all()
    critic.zero_grad()
    x = samples[0].requires_grad_()
    (grad,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    (grad.square().sum(1).sqrt() - 1).square().mean().backward()
    assert critic.weight.grad.isnan().any()


def test_r1(samples):
    critic, real = nn.Linear(3, 1), samples[0].detach().requires_grad_(True)
    (grad,) = torch.autograd.grad(critic(real).sum(), real, create_graph=True)
    penalty = grad.flatten(1).square().sum(1).mean()
    torch.testing.assert_close(penalty, critic.weight.square().sum())


def test_in_bfloat16(samples):
    critic = nn.Linear(3, 1).bfloat16()
    real, fake = (x.bfloat16() for x in samples)
    penalty = gradient_penalty(critic, real, fake)
    assert penalty.dtype == torch.bfloat16
    expected = (critic.weight.float().norm() - 1) ** 2
    torch.testing.assert_close(penalty.float(), expected, rtol=0.05, atol=0.02)


def test_a_compiled_critic(samples):
    critic = torch.compile(
        nn.Sequential(nn.Linear(3, 1), nn.Tanh()), backend="aot_eager"
    )
    with raises_as_documented(PAGE, "RuntimeError: torch.compile with aot_autograd"):
        gradient_penalty(critic, *samples).backward()


def test_messages():
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor"):
        gradient_penalty(nn.Linear(3, 1), torch.ones(64, 3), torch.ones(32, 3))
    x = torch.ones(2, requires_grad=True)
    torch.set_warn_always(True)  # else it is shown once, and not to other tests
    try:
        with raises_as_documented(PAGE, "UserWarning: Using backward()"):
            x.square().sum().backward(create_graph=True)
    finally:
        torch.set_warn_always(False)
