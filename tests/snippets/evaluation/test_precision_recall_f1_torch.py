"""precision-recall-f1: every score against scikit-learn; 0 / 0 by hand."""

import math

import numpy as np
import pytest
import torch
from sklearn import metrics

from tests.helpers import ROOT, load_snippet

SNIPPET = "evaluation/precision_recall_f1_torch.py"
snippet = load_snippet(SNIPPET)
SOURCE = (ROOT / "snippets" / SNIPPET).read_text("utf-8").partition("cm = ")
CODE = (SOURCE[1] + SOURCE[2]).partition("\nprint")[0]


def scores(target, pred, classes=6) -> dict:
    """What the snippet computes of these labels."""
    target, pred = torch.as_tensor(target), torch.as_tensor(pred)
    names = {"torch": torch, "target": target, "pred": pred, "C": classes}
    exec(CODE, names)
    return names


def labels(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """True and predicted classes in [0, 6), (N,) each."""
    generator = np.random.default_rng(0)
    target, pred = generator.integers(6, size=(2, 300))
    target[:100] = pred[:100]
    if kind == "absent":  # 4 is never true, 5 never predicted, 3 neither
        target[(target == 4) | (target == 3)] = 0
        pred[(pred == 5) | (pred == 3)] = 1
    elif kind == "all right":
        target = pred
    elif kind == "all wrong":
        target = (pred + 1) % 6
    return target, pred


@pytest.mark.parametrize("kind", ["full", "absent", "all right", "all wrong"])
def test_scores_equal_scikit_learn(kind):
    target, pred = labels(kind)
    found = scores(target, pred)
    per_class = metrics.precision_recall_fscore_support(
        target, pred, labels=range(6), zero_division=math.nan
    )
    for name, expected in zip(
        ("precision", "recall", "f1"), per_class[:3], strict=True
    ):
        np.testing.assert_allclose(found[name], expected, rtol=1e-6)
    macro = metrics.f1_score(
        target, pred, labels=range(6), average="macro", zero_division=math.nan
    )
    assert found["macro_f1"].item() == pytest.approx(macro, rel=1e-5)
    micro = found["hits"].sum() / found["cm"].sum()
    assert micro.item() == pytest.approx(metrics.accuracy_score(target, pred))
    assert metrics.f1_score(target, pred, average="micro") == pytest.approx(micro)


def test_the_run_by_hand():
    s = snippet
    assert s.cm.tolist() == [[3, 1, 0], [0, 2, 0], [0, 1, 0]]
    assert s.precision[:2].tolist() == [1, 0.5]
    assert s.precision[2].isnan()
    assert s.recall.tolist() == [0.75, 1, 0]
    assert s.f1.tolist() == pytest.approx([6 / 7, 2 / 3, 0])
    assert s.macro_f1.item() == pytest.approx((6 / 7 + 2 / 3) / 3)


def test_the_page_s_example_of_a_swap():
    """5 of class 0, of which 4 are found; 7 called 0."""
    target, pred = [0] * 5 + [1] * 5, [0] * 4 + [1] + [0] * 3 + [1] * 2
    found = scores(target, pred, 2)
    assert found["called"][0] == 7
    assert found["precision"][0].item() == pytest.approx(4 / 7)
    assert found["recall"][0].item() == pytest.approx(4 / 5)
    swapped = scores(pred, target, 2)
    assert torch.equal(swapped["precision"], found["recall"])
    assert torch.equal(swapped["f1"], found["f1"])


def test_a_class_that_never_occurs_is_left_out():
    found = scores([0, 0, 1], [0, 0, 1], 3)
    assert found["macro_f1"] == 1


def test_batches_add_up_but_their_scores_do_not():
    target, pred = map(torch.from_numpy, labels("full"))
    whole = scores(target, pred)
    parts = [
        scores(t, p) for t, p in zip(target.split(64), pred.split(64), strict=True)
    ]
    assert torch.equal(sum(part["cm"] for part in parts), whole["cm"])
    mean = torch.stack([part["macro_f1"] for part in parts]).mean()
    assert mean.item() != pytest.approx(whole["macro_f1"].item(), rel=1e-2)


def test_f_beta_and_specificity():
    target, pred = labels("full")
    found = scores(target, pred)
    hits, called, truly = (found[name] for name in ("hits", "called", "truly"))
    for b in (0.5, 2):
        beta = (1 + b**2) * hits / (called + b**2 * truly)
        expected = metrics.fbeta_score(target, pred, beta=b, average=None)
        np.testing.assert_allclose(beta, expected, rtol=1e-6)
    n = found["cm"].sum()
    specificity = (n - called - truly + hits) / (n - truly)
    expected = [metrics.recall_score(target != c, pred != c) for c in range(6)]
    np.testing.assert_allclose(specificity, expected, rtol=1e-6)


def test_two_classes():
    target, pred = (array > 2 for array in labels("full"))
    found = scores(target.astype(int), pred.astype(int), 2)
    expected = metrics.precision_recall_fscore_support(target, pred, average="binary")
    names = ("precision", "recall", "f1")
    np.testing.assert_allclose([found[n][1] for n in names], expected[:3], rtol=1e-6)
