"""multi-task-loss, its variant: the weights at the minimum, worked by hand."""

import math

import pytest
import torch

from tests.helpers import load_snippet

UncertaintyWeights = load_snippet(
    "training/multi_task_uncertainty.py"
).UncertaintyWeights


def test_value_and_gradient_by_hand():
    weigh = UncertaintyWeights(2)
    assert weigh.log_var.tolist() == [0, 0]
    torch.nn.init.constant_(weigh.log_var, 1.0)
    losses = torch.tensor([2.0, 6.0], requires_grad=True)
    total = weigh(*losses)
    assert total.item() == pytest.approx(8 / (2 * math.e) + 1)
    total.backward()
    assert losses.grad.tolist() == pytest.approx([0.5 / math.e] * 2)
    expected = [0.5 - 1 / math.e, 0.5 - 3 / math.e]
    assert weigh.log_var.grad.tolist() == pytest.approx(expected)


def test_at_the_minimum_the_variance_is_the_loss():
    weigh = UncertaintyWeights(3)
    losses = torch.tensor([0.01, 1.0, 50.0])
    weigh.log_var.data = losses.log()
    weigh(*losses).backward()
    torch.testing.assert_close(weigh.log_var.grad, torch.zeros(3))
    assert UncertaintyWeights(1)(torch.tensor(0.01)) > 0
    weigh = UncertaintyWeights(1)
    weigh.log_var.data.fill_(math.log(0.01))
    assert weigh(torch.tensor(0.01)) < 0  # and rightly so


def test_the_factor_of_the_paper_is_a_shift():
    """exp(-s) L + s / 2 for a cross entropy: the same with s + ln 2."""
    loss, s = torch.tensor(0.7), torch.linspace(-3, 3, 7)
    weigh = UncertaintyWeights(7)
    weigh.log_var.data = s - math.log(2)
    paper = (torch.exp(-s) * loss + s / 2).sum()
    ours = weigh(*[loss] * 7) + 7 * math.log(2) / 2
    torch.testing.assert_close(ours, paper)
