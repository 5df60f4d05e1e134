"""label-smoothing: the loss against a float64 loop and hand-worked targets."""

import math

import pytest
import torch
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("training/label_smoothing.py")


def smoothed(target: int, classes: int, smoothing: float) -> list[float]:
    """The distribution that the page describes, by hand."""
    soft = [smoothing / classes] * classes
    soft[target] += 1 - smoothing
    return soft


def cross_entropy(logits: torch.Tensor, wanted: list[list[float]]) -> float:
    """The mean over the samples, in plain Python."""
    total = 0.0
    for row, shares in zip(logits.tolist(), wanted, strict=True):
        log_total = math.log(sum(math.exp(logit) for logit in row))
        total -= sum(
            w * (logit - log_total) for w, logit in zip(shares, row, strict=True)
        )
    return total / len(wanted)


def test_the_loss_is_that_of_a_loop():
    wanted = [smoothed(t, 10, 0.1) for t in snippet.target.tolist()]
    assert snippet.loss.item() == pytest.approx(cross_entropy(snippet.logits, wanted))
    assert snippet.logits.shape == (4, 10)
    assert snippet.target.tolist() == [3, 0, 9, 3]
    torch.testing.assert_close(snippet.soft, torch.tensor(wanted))


def test_smoothing_only_the_other_classes_is_a_larger_epsilon():
    logits, C, epsilon = torch.randn(1, 10, dtype=torch.float64), 10, 0.1
    others = [epsilon / (C - 1)] * C
    others[4] = 1 - epsilon
    larger = F.cross_entropy(
        logits, torch.tensor([4]), label_smoothing=epsilon * C / (C - 1)
    )
    assert larger.item() == pytest.approx(cross_entropy(logits, [others]))


def test_the_floor_the_page_states():
    soft = torch.tensor([smoothed(0, 10, 0.1)])
    assert f"{F.cross_entropy(soft.log(), soft):.3f}" == "0.500"


def test_one_logit_is_two_classes_of_which_one_is_zero():
    logits, y = torch.randn(9), torch.randint(2, (9,))
    loss = F.binary_cross_entropy_with_logits(logits, 0.9 * y + 0.05)
    both = torch.stack([torch.zeros(9), logits], 1)
    wanted = [smoothed(t, 2, 0.1) for t in y.tolist()]
    assert loss.item() == pytest.approx(cross_entropy(both, wanted))
    with pytest.raises(TypeError, match="label_smoothing"):
        torch.nn.BCEWithLogitsLoss(label_smoothing=0.1)


def test_ignored_targets_do_not_count():
    logits = torch.randn(3, 10)
    masked = F.cross_entropy(logits, torch.tensor([1, -100, 2]), label_smoothing=0.1)
    kept = F.cross_entropy(logits[[0, 2]], torch.tensor([1, 2]), label_smoothing=0.1)
    torch.testing.assert_close(masked, kept)


def test_class_weights_weigh_the_smoothed_part_too():
    weight = torch.tensor([1.0, 3.0])
    logits, target = torch.randn(1, 2), torch.tensor([0])
    loss = F.cross_entropy(logits, target, weight, label_smoothing=0.2)
    log_p = logits.log_softmax(1)[0]
    by_hand = -(0.9 * 1 * log_p[0] + 0.1 * 3 * log_p[1]) / 1  # over w of the target
    torch.testing.assert_close(loss, by_hand)


def test_bad_labels_are_refused():
    with raises_as_documented("training/label-smoothing", "IndexError: Target 10 is"):
        F.cross_entropy(torch.randn(1, 10), torch.tensor([10]), label_smoothing=0.1)
