"""roc-auc: against scikit-learn, SciPy, torchmetrics and a loop over the pairs."""

import numpy as np
import pytest
import torch
from scipy.stats import mannwhitneyu
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    roc_auc_score,
)
from torchmetrics import AUROC

from tests.helpers import assert_documented, load_snippet

PAGE = "evaluation/roc-auc"
roc_auc = load_snippet("evaluation/roc_auc_torch.py").roc_auc


def data(levels, n=300):
    generator = torch.Generator().manual_seed(levels)
    target = torch.randint(2, (n,), generator=generator)
    score = torch.randint(levels, (n,), generator=generator) + target
    return score.float(), target


@pytest.mark.parametrize("levels", [2, 7, 100_000], ids=["ties", "some", "none"])
def test_it_is_that_of_scikit_learn_and_scipy(levels):
    score, target = data(levels)
    auc = roc_auc(score, target).item()
    assert auc == pytest.approx(roc_auc_score(target, score), rel=1e-6)
    positive = target.bool()
    U = mannwhitneyu(score[positive], score[~positive]).statistic
    pairs = positive.sum().item() * (~positive).sum().item()
    assert auc == pytest.approx(U / pairs, rel=1e-6)


def test_it_is_the_share_of_pairs():
    score, target = torch.tensor([0.1, 0.4, 0.4, 0.9]), torch.tensor([0, 0, 1, 1])
    assert roc_auc(score, target) == 3.5 / 4
    assert roc_auc(-score, target) == 0.5 / 4
    assert roc_auc(torch.zeros(4), target) == 0.5


def test_only_the_order_counts():
    score, target = data(50)
    assert roc_auc((score / 50).sigmoid(), target) == roc_auc(score, target)


def test_one_class_is_nan():
    score = torch.randn(4)
    assert roc_auc(score, torch.ones(4)).isnan()
    assert roc_auc(score, torch.zeros(4)).isnan()
    with pytest.warns(UndefinedMetricWarning, match="one class") as caught:
        assert np.isnan(roc_auc_score([1, 1], [0.1, 0.2]))
    raised = f"UndefinedMetricWarning: {caught[0].message}"
    assert_documented(PAGE, "UndefinedMetricWarning: Only one", raised)
    with pytest.warns(UserWarning, match="No negative samples"):
        assert AUROC(task="binary")(torch.rand(4), torch.ones(4).long()) == 0


def test_of_classes_it_is_the_balanced_accuracy():
    score, target = data(7)
    pred = (score > 3).long()
    expected = balanced_accuracy_score(target, pred)
    assert roc_auc(pred, target).item() == pytest.approx(expected, rel=1e-6)
    assert roc_auc(pred, target) < roc_auc(score, target)


def test_two_logits():
    logits, target = torch.randn(50, 2), torch.arange(50) % 2
    margin = roc_auc(logits[:, 1] - logits[:, 0], target)
    assert roc_auc(logits.double().softmax(1)[:, 1], target) == margin


def test_torchmetrics_and_large_logits():
    score, target = torch.tensor([18.0, 20.0, 30.0, -3.0]), torch.tensor([0, 1, 1, 0])
    assert roc_auc(score, target) == roc_auc_score(target, score) == 1
    assert AUROC(task="binary")(score, target) == 0.75
    assert AUROC(task="binary")(score.double(), target) == 1
    score, target = data(7)
    metric = AUROC(task="binary")
    for s, t in zip(score.split(64), target.split(64), strict=True):
        metric.update(s / 10, t)
    torch.testing.assert_close(metric.compute(), roc_auc(score, target))


def test_average_precision_of_chance_is_the_share_of_positives():
    rng = np.random.default_rng(0)
    target = np.arange(20_000) % 100 == 0
    assert average_precision_score(target, np.zeros(20_000)) == pytest.approx(0.01)
    assert average_precision_score(target, rng.random(20_000)) < 0.02
