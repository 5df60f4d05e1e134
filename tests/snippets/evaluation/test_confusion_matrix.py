"""confusion-matrix: counts against scikit-learn; hand-worked rates; bad input."""

import numpy as np
import pandas
import pytest
import torch
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from tests.helpers import load_snippet, raises_as_documented

confusion_matrix = load_snippet("evaluation/confusion_matrix.py").confusion_matrix
PAGE = "evaluation/confusion-matrix"


@pytest.fixture
def labels():
    generator = torch.Generator().manual_seed(0)
    return torch.randint(6, (2, 500), generator=generator)


def test_counts_equal_scikit_learn(labels):
    pred, target = labels
    expected = metrics.confusion_matrix(target, pred, labels=range(6))
    matrix = confusion_matrix(pred, target, 6)
    assert matrix.dtype == torch.int64
    np.testing.assert_array_equal(matrix, expected)


def test_rates_of_rows_and_columns_equal_scikit_learn(labels):
    pred, target = labels
    matrix = confusion_matrix(pred, target, 6)
    recall, precision = matrix.diag() / matrix.sum(1), matrix.diag() / matrix.sum(0)
    expected = metrics.precision_recall_fscore_support(target, pred)
    np.testing.assert_allclose(precision, expected[0], rtol=1e-6)
    np.testing.assert_allclose(recall, expected[1], rtol=1e-6)
    assert not torch.allclose(precision, recall)
    f1 = 2 * precision * recall / (precision + recall)  # symmetric: hides a swap
    np.testing.assert_allclose(f1, expected[2], rtol=1e-6)
    iou = matrix.diag() / (matrix.sum(0) + matrix.sum(1) - matrix.diag())
    jaccard = metrics.jaccard_score(target, pred, average=None)
    np.testing.assert_allclose(iou, jaccard, rtol=1e-6)
    accuracy = metrics.accuracy_score(target, pred)
    assert (matrix.trace() / matrix.sum()).item() == pytest.approx(accuracy)


def test_batches_add_up_but_their_precisions_do_not(labels):
    pred, target = labels
    whole = confusion_matrix(pred, target, 6)
    batches = list(zip(pred.split(64), target.split(64), strict=True))
    parts = torch.stack([confusion_matrix(p, t, 6) for p, t in batches])
    assert torch.equal(parts.sum(0), whole)
    mean = (parts.diagonal(dim1=1, dim2=2) / parts.sum(1)).mean(0)
    assert not torch.allclose(mean, whole.diag() / whole.sum(0), rtol=1e-3)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32])
def test_small_integers_do_not_overflow(dtype):
    target, pred = torch.tensor([200, 3, 255]), torch.tensor([199, 3, 0])
    matrix = confusion_matrix(pred.to(dtype), target.to(dtype), 201, ignore_index=255)
    expected = metrics.confusion_matrix(target[:2], pred[:2], labels=range(201))
    np.testing.assert_array_equal(matrix, expected)
    # The pitfall, as the page works it out.
    assert (torch.tensor([200], dtype=torch.uint8) * 3).item() == 88


@pytest.mark.parametrize("shape", [(0,), (), (2, 3, 4)], ids=str)
def test_any_shape(shape):
    target = torch.randint(3, shape)
    pred = torch.randint(3, shape)
    expected = np.zeros((3, 3))
    np.add.at(expected, (target.numpy(), pred.numpy()), 1)
    np.testing.assert_array_equal(confusion_matrix(pred, target, 3), expected)


def test_not_contiguous_masks_and_booleans():
    target, pred = torch.randint(2, (2, 5, 7)).bool()
    expected = metrics.confusion_matrix(target.flatten(), pred.flatten())
    np.testing.assert_array_equal(confusion_matrix(pred.T, target.T, 2), expected)


def test_only_ignored_targets_are_left_out():
    target, pred = torch.tensor([-100, 1, -100]), torch.tensor([0, 1, 1])
    assert confusion_matrix(pred, target, 2).tolist() == [[0, 0], [0, 1]]
    with pytest.raises(ValueError, match="a class is not in"):
        confusion_matrix(target, pred, 2)  # never ignored in a prediction


def test_bad_input_is_refused_as_documented():
    target = torch.tensor([0, 1, 2, 0])
    with raises_as_documented(PAGE, "ValueError: a class is"):
        confusion_matrix(torch.tensor([3, 0, 0, 0]), target, 3)
    with raises_as_documented(PAGE, "ValueError: a class is"):
        confusion_matrix(target, torch.tensor([3, 0, 0, 0]), 3)
    masks = torch.zeros(2, 4, 4, dtype=torch.int64)
    with raises_as_documented(PAGE, "ValueError: Found array with dim 3"):
        metrics.confusion_matrix(masks, masks, labels=range(3))
    with raises_as_documented(PAGE, "AttributeError: module 'numpy' has"):
        np.int  # noqa: B018
    with raises_as_documented(PAGE, "RuntimeError: stack expects each"):
        confusion_matrix(torch.randn(4, 3), target, 3)
    with raises_as_documented(PAGE, "ValueError: a class is"):
        confusion_matrix(target - 1, target, 3)


def test_unchecked_a_class_too_large_lands_in_the_next_row():
    target, pred = 0, 3
    counts = torch.bincount(torch.tensor([target * 3 + pred]), minlength=9)
    assert counts.view(3, 3)[1, 0] == 1


def test_an_absent_class_is_nan_here_and_zero_in_scikit_learn():
    target = pred = torch.tensor([0, 0, 1])
    matrix = confusion_matrix(pred, target, 3)
    recall = matrix.diag() / matrix.sum(1)
    assert recall[2].isnan()
    assert recall.nanmean() == 1
    with pytest.warns(UndefinedMetricWarning):
        scores = metrics.recall_score(target, pred, labels=[0, 1, 2], average=None)
    assert scores[2] == 0


def test_labels_from_1_lose_the_last_class():
    labels = [1, 2, 3, 3]
    cm = metrics.confusion_matrix(labels, labels, labels=range(3))
    assert cm.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_csv(tmp_path):
    path, names = tmp_path / "cm.csv", ["cat", "\N{CJK UNIFIED IDEOGRAPH-732B}"]
    cm = metrics.confusion_matrix([0, 0, 1], [0, 1, 1])
    pandas.DataFrame(cm, names, names).to_csv(path, encoding="utf-8-sig")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")  # by which Excel knows UTF-8
    found = pandas.read_csv(path, index_col=0)
    assert found.columns.tolist() == found.index.tolist() == names
    np.testing.assert_array_equal(found, cm)
