"""precision-recall-f1: the report, and the library calls that the page names."""

import math
import warnings

import numpy as np
import pytest
import torch
from sklearn import metrics
from torch.nn import functional as F
from torchmetrics import F1Score

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "evaluation/precision_recall_f1.py"
PAGE = "evaluation/precision-recall-f1"
CODE = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
IMPORTS = CODE[CODE.index("import numpy") : CODE.index("\n\nnames =")]
CODE = IMPORTS + "\n" + CODE[CODE.index("keep =") : CODE.index("\nprint")]


def report(target, pred, names) -> list[list[str]]:
    """The rows of the report that the snippet makes of these labels."""
    exec(CODE, space := {"target": target, "pred": pred, "names": names})
    return [line.split() for line in space["report"].splitlines() if line]


def test_the_run_by_hand():
    snippet = load_snippet(SNIPPET)
    rows = [line.split() for line in snippet.report.splitlines() if line]
    assert rows[1] == ["cat", "1.00", "0.75", "0.86", "4"]  # not 3/4 of 4 called cat
    assert rows[3] == ["bird", "nan", "0.00", "0.00", "1"]
    assert rows[4] == ["fish", "nan", "nan", "nan", "0"]
    macro = (6 / 7 + 2 / 3 + 0) / 3  # fish is left out
    assert rows[6] == ["macro", "avg", "0.75", "0.58", f"{macro:.2f}", "7"]


def test_another_set_without_absent_classes_and_with_integer_types():
    torch.manual_seed(0)
    target, pred = torch.randint(3, (2, 200))
    rows = report(target.int(), pred.to(torch.uint8), ["a", "b", "c"])
    expected = metrics.precision_recall_fscore_support(target, pred)
    for i, row in enumerate(rows[1:4]):
        assert row[1:4] == [f"{scores[i]:.2f}" for scores in expected[:3]]


def test_micro_is_accuracy_unless_a_class_has_no_name():
    target, pred = torch.tensor([0, 0, 1, 2, 3]), torch.tensor([0, 1, 1, 1, 3])
    for names, row in ((["a", "b", "c", "d"], "accuracy"), (["a", "b"], "micro")):
        assert report(target, pred, names)[len(names) + 1][0] == row
        labels = range(len(names))
        f1 = metrics.f1_score(target, pred, labels=labels, average="micro")
        same = f1 == pytest.approx(metrics.accuracy_score(target, pred))
        assert same == (row == "accuracy")


def test_ignored_labels_do_not_count_as_false_alarms():
    target, pred = torch.tensor([0, 1, -100]), torch.tensor([0, 1, 0])
    assert report(target, pred, ["a", "b"])[1][1] == "1.00"
    assert metrics.precision_score(target, pred, labels=[0], average=None) == 0.5


def test_torchmetrics_leaves_absent_classes_out_too():
    target = torch.tensor([0, 0, 0, 0, 1, 1, 2, -100])
    pred = torch.tensor([0, 0, 0, 1, 1, 1, 1, 0])
    metric = F1Score("multiclass", num_classes=4, average="macro", ignore_index=-100)
    for p, t in zip(pred.split(3), target.split(3), strict=True):
        metric.update(p, t)
    assert metric.compute().item() == pytest.approx((6 / 7 + 2 / 3) / 3)


def test_the_other_calls_of_the_page():
    torch.manual_seed(0)
    target = torch.randint(6, (300,))
    logits = F.one_hot(target, 6) + 2.0 * torch.randn(300, 6)
    auc = metrics.roc_auc_score(target, logits.softmax(1), multi_class="ovr")
    each = [
        metrics.roc_auc_score(target == c, logits.softmax(1)[:, c]) for c in range(6)
    ]
    assert auc == pytest.approx(np.mean(each))
    several = torch.randint(2, (300, 6))
    macro = metrics.f1_score(several, logits > 0, average="macro")
    each = [metrics.f1_score(several[:, c], logits[:, c] > 0) for c in range(6)]
    assert macro == pytest.approx(np.mean(each))
    macro = metrics.f1_score(
        [0, 0, 1], [0, 0, 1], labels=range(3), average="macro", zero_division=0
    )
    assert macro == pytest.approx(2 / 3)  # an absent class as 0


def test_the_documented_messages():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with raises_as_documented(PAGE, "UndefinedMetricWarning: Precision is"):
            metrics.precision_score([0, 1], [0, 0], average="macro")
        metrics.precision_score([0, 1], [0, 0], average="macro", zero_division=math.nan)
    with raises_as_documented(PAGE, "ValueError: Number of classes, 2, does not match"):
        metrics.classification_report([0, 1], [0, 1], target_names=["a", "b", "c"])
    with raises_as_documented(PAGE, "ValueError: Classification metrics can't handle"):
        metrics.classification_report(torch.tensor([0, 1, 2]), torch.randn(3, 3))
