"""label-smoothing: the loss against a float64 loop and hand-worked targets."""

import math

import pytest
import torch
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

smooth_targets = load_snippet("training/label_smoothing.py").smooth_targets


def test_hand_worked_case():
    soft = smooth_targets(torch.tensor([2, 0]), num_classes=4, smoothing=0.2)
    expected = [[0.05, 0.05, 0.85, 0.05], [0.85, 0.05, 0.05, 0.05]]
    torch.testing.assert_close(soft, torch.tensor(expected))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
def test_loss_equals_a_float64_loop_and_the_built_in(smoothing):
    torch.manual_seed(1)
    logits = torch.randn(5, 7, dtype=torch.float64)
    target = torch.tensor([0, 6, 3, 3, 1])
    loop = 0.0
    for row, label in zip(logits.tolist(), target.tolist(), strict=True):
        log_total = math.log(sum(math.exp(logit) for logit in row))
        for k, logit in enumerate(row):
            wanted = smoothing / 7 + (1 - smoothing if k == label else 0)
            loop -= wanted * (logit - log_total) / 5
    built_in = F.cross_entropy(logits, target, label_smoothing=smoothing)
    soft = smooth_targets(target, 7, smoothing).double()
    assert built_in.item() == pytest.approx(loop, rel=1e-12)
    assert F.cross_entropy(logits, soft).item() == pytest.approx(loop, rel=1e-6)


def test_smoothing_only_the_other_classes_is_a_larger_epsilon():
    target, epsilon, C = torch.tensor([4]), 0.1, 10
    others = torch.full((1, C), epsilon / (C - 1))
    others[0, 4] = 1 - epsilon
    torch.testing.assert_close(others, smooth_targets(target, C, epsilon * C / (C - 1)))


def test_the_floor_the_page_states():
    soft = smooth_targets(torch.tensor([0]), 10, 0.1)
    floor = F.cross_entropy(soft.log(), soft)
    assert f"{floor:.3f}" == "0.500"


def test_ignored_targets_do_not_count():
    logits = torch.randn(3, 10)
    masked = F.cross_entropy(logits, torch.tensor([1, -100, 2]), label_smoothing=0.1)
    kept = F.cross_entropy(logits[[0, 2]], torch.tensor([1, 2]), label_smoothing=0.1)
    torch.testing.assert_close(masked, kept)


def test_bad_labels_are_refused():
    with pytest.raises(RuntimeError, match="smaller than num_classes"):
        smooth_targets(torch.tensor([10]), 10, 0.1)
    with raises_as_documented("training/label-smoothing"):
        F.cross_entropy(torch.randn(1, 10), torch.tensor([10]), label_smoothing=0.1)
