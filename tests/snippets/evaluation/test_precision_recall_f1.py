"""precision-recall-f1: every average against scikit-learn; 0 / 0 by hand."""

import math
import warnings

import numpy as np
import pytest
import torch
from sklearn import metrics

from tests.helpers import load_snippet, raises_as_documented

precision_recall_f1 = load_snippet(
    "evaluation/precision_recall_f1.py"
).precision_recall_f1
PAGE = "evaluation/precision-recall-f1"
AVERAGES = {"none": None, "macro": "macro", "weighted": "weighted", "micro": "micro"}


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


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("kind", ["full", "absent", "all right", "all wrong"])
@pytest.mark.parametrize("zero_division", [0.0, 1.0, math.nan])
def test_scores_equal_scikit_learn(average, kind, zero_division):
    target, pred = labels(kind)
    matrix = torch.from_numpy(metrics.confusion_matrix(target, pred, labels=range(6)))
    expected = metrics.precision_recall_fscore_support(
        target,
        pred,
        labels=range(6),
        average=AVERAGES[average],
        zero_division=zero_division,
    )
    scores = precision_recall_f1(matrix, average, zero_division)
    assert scores.shape == ((3, 6) if average == "none" else (3,))
    assert scores.dtype == torch.float32
    np.testing.assert_allclose(scores, np.array(expected[:3]), rtol=1e-6)


def test_the_defaults_are_per_class_and_zero():
    matrix = torch.tensor([[3, 1, 0], [0, 2, 0], [0, 0, 0]])
    expected = [[1.0, 2 / 3, 0.0], [0.75, 1.0, 0.0], [6 / 7, 0.8, 0.0]]
    torch.testing.assert_close(precision_recall_f1(matrix), torch.tensor(expected))


def test_by_hand():
    """Rows are the truth: 5 of class 0, of which 4 are found; 7 called 0."""
    matrix = torch.tensor([[4, 1], [3, 2]])
    precision, recall, f1 = precision_recall_f1(matrix)
    assert precision[0].item() == pytest.approx(4 / 7)
    assert recall[0].item() == pytest.approx(4 / 5)
    assert f1[0].item() == pytest.approx(2 / (7 / 4 + 5 / 4))
    swapped = precision_recall_f1(matrix.T)
    assert torch.equal(swapped[[1, 0, 2]], torch.stack([precision, recall, f1]))
    # As the page says: F1 hides the swap, and macro F1 is not the F1 of the means.
    macro = precision_recall_f1(matrix, "macro")
    assert not math.isclose(macro[2], 2 / (1 / macro[0] + 1 / macro[1]), rel_tol=1e-3)


def test_micro_is_accuracy_three_times():
    target, pred = labels("full")
    matrix = torch.from_numpy(metrics.confusion_matrix(target, pred))
    accuracy = metrics.accuracy_score(target, pred)
    scores = precision_recall_f1(matrix, "micro")
    assert scores.tolist() == pytest.approx([accuracy] * 3)
    # Weighted recall is accuracy as well.
    assert precision_recall_f1(matrix, "weighted")[1].item() == pytest.approx(accuracy)


def test_a_class_that_never_occurs_pulls_macro_down():
    """scikit-learn only knows the classes it has seen, unless told."""
    target = pred = [0, 0, 1]
    matrix = torch.diag(torch.tensor([2, 1, 0]))
    assert metrics.f1_score(target, pred, average="macro") == 1
    assert precision_recall_f1(matrix, "macro")[2].item() == pytest.approx(2 / 3)
    assert precision_recall_f1(matrix, "macro", math.nan)[2] == 1


def test_variants_of_the_page():
    target, pred = labels("full")
    matrix = torch.from_numpy(metrics.confusion_matrix(target, pred))
    hits, called, truly = matrix.diag(), matrix.sum(0), matrix.sum(1)
    for b in (0.5, 2):
        beta = (1 + b**2) * hits / (called + b**2 * truly)
        expected = metrics.fbeta_score(target, pred, beta=b, average=None)
        np.testing.assert_allclose(beta, expected, rtol=1e-6)
    target, pred = target > 2, pred > 2
    matrix = torch.from_numpy(metrics.confusion_matrix(target, pred))
    expected = metrics.precision_recall_fscore_support(target, pred, average="binary")
    np.testing.assert_allclose(precision_recall_f1(matrix)[:, 1], expected[:3], 1e-6)


def test_nothing_counted_yet():
    empty = torch.zeros(3, 3, dtype=torch.int64)
    assert precision_recall_f1(empty).tolist() == [[0.0] * 3] * 3
    assert precision_recall_f1(empty, "micro").tolist() == [0.0] * 3
    assert precision_recall_f1(empty, "macro").tolist() == [0.0] * 3
    assert precision_recall_f1(empty, "macro", math.nan).isnan().all()


def test_a_matrix_of_shares_loses_the_precision():
    """A normalised matrix still has the recall, as the page says."""
    matrix = torch.tensor([[90, 10], [1, 9]])
    shares = matrix / matrix.sum(1, keepdim=True)
    counted, normalised = precision_recall_f1(matrix), precision_recall_f1(shares)
    torch.testing.assert_close(normalised[1], counted[1])
    assert [f"{s[0][1]:.2f}" for s in (counted, normalised)] == ["0.47", "0.90"]


def test_the_mean_of_batch_scores_is_another_number():
    batches = torch.tensor([[[1, 0], [0, 9]], [[0, 1], [9, 0]]])
    means = torch.stack([precision_recall_f1(b) for b in batches]).mean(0)
    assert not torch.allclose(means, precision_recall_f1(batches.sum(0)), rtol=1e-2)


def test_other_matrices():
    matrix = torch.tensor([[4, 1], [3, 2]])
    expected = precision_recall_f1(matrix)
    for other in (matrix.int(), matrix.float(), matrix.T.contiguous().T):
        assert torch.equal(precision_recall_f1(other), expected)
    large = precision_recall_f1(matrix * 10**15)
    torch.testing.assert_close(large, expected)


def test_bad_input_is_refused():
    with pytest.raises(KeyError, match="binary"):
        precision_recall_f1(torch.eye(2), "binary")
    with pytest.raises(RuntimeError):
        precision_recall_f1(torch.ones(2, 3))


def test_the_documented_errors():
    num_classes, counts = 3, {}
    with raises_as_documented(PAGE):
        for _ in range(len(num_classes)):
            pass
    with raises_as_documented(PAGE):
        0 / (0 + 0)
    with raises_as_documented(PAGE):
        counts["dog"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with raises_as_documented(PAGE):
            metrics.precision_score([0, 1], [0, 0], average="macro")
