"""segmentation-iou: against scikit-learn and torchmetrics; hand-worked masks."""

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score, jaccard_score
from torchmetrics import JaccardIndex
from torchmetrics.segmentation import MeanIoU

from tests.helpers import load_snippet, raises_as_documented

PAGE = "evaluation/segmentation-iou"
snippet = load_snippet("evaluation/segmentation_iou.py")
count_pixels, iou = snippet.count_pixels, snippet.iou


@pytest.fixture
def masks():
    generator = torch.Generator().manual_seed(0)
    pred, target = torch.randint(3, (2, 6, 8, 8), generator=generator)
    target[:, 0] = 255
    return pred, target


def total(pred, target, C, batch):
    batches = zip(pred.split(batch), target.split(batch), strict=True)
    return sum(count_pixels(p, t, C) for p, t in batches)


@pytest.mark.parametrize("batch", [1, 4])
def test_it_is_that_of_scikit_learn_and_torchmetrics(masks, batch):
    pred, target = masks
    keep = target != 255
    counts = total(pred, target, 3, batch)
    expected = jaccard_score(target[keep], pred[keep], average=None)
    np.testing.assert_allclose(iou(counts), expected, rtol=1e-6)

    metric = JaccardIndex(task="multiclass", num_classes=3, ignore_index=255)
    for p, t in zip(pred.split(batch), target.split(batch), strict=True):
        metric.update(p, t)
    torch.testing.assert_close(iou(counts).nanmean(), metric.compute())

    dice = 2 * counts.diag() / (counts.sum(0) + counts.sum(1))
    f1 = f1_score(target[keep], pred[keep], average=None)
    np.testing.assert_allclose(dice, f1, rtol=1e-6)
    accuracy = (pred == target)[keep].float().mean()
    torch.testing.assert_close(counts.trace() / counts.sum(), accuracy)


def test_rows_are_true_classes():
    counts = count_pixels(torch.tensor([1, 2]), torch.tensor([0, 0]), 3)
    assert counts.tolist() == [[0, 1, 1], [0, 0, 0], [0, 0, 0]]


def test_by_hand():
    target = torch.tensor([0, 0, 1, 1, 0, 0, 0, 255])
    pred = torch.tensor([0, 0, 1, 0, 0, 0, 2, 0])
    found = iou(count_pixels(pred, target, 4))
    assert found[:3].tolist() == pytest.approx([4 / 6, 1 / 2, 0])
    assert found[3].isnan()  # neither there nor predicted
    assert found.nanmean().item() == pytest.approx((4 / 6 + 1 / 2) / 3)


def test_absent_classes_in_torchmetrics():
    target, pred = torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1])
    options = {"task": "multiclass", "num_classes": 4}
    found = iou(count_pixels(pred, target, 4))
    each = JaccardIndex(average="none", **options)(pred, target)
    torch.testing.assert_close(found.nan_to_num(), each)
    torch.testing.assert_close(found.nanmean(), JaccardIndex(**options)(pred, target))
    assert found.nan_to_num().mean() < found.nanmean()  # too low


def test_mean_iou_of_torchmetrics_averages_over_images():
    target = torch.tensor([[[0, 0, 0, 0]], [[0, 1, 1, 1]]])
    pred = torch.tensor([[[0, 0, 0, 1]], [[0, 1, 1, 1]]])
    metric = MeanIoU(num_classes=2, input_format="index")
    metric.update(pred, target)
    images = [
        iou(count_pixels(p, t, 2)).nanmean() for p, t in zip(pred, target, strict=True)
    ]
    torch.testing.assert_close(metric.compute(), sum(images) / 2)
    assert not torch.isclose(
        metric.compute(), iou(count_pixels(pred, target, 2)).mean()
    )


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32])
def test_small_integers_do_not_overflow(dtype):
    target = pred = torch.tensor([200, 3]).to(dtype)
    counts = count_pixels(pred, target, 201)
    assert counts[200, 200] == counts[3, 3] == 1


def test_another_ignore_index():
    counts = count_pixels(torch.tensor([0, 0]), torch.tensor([0, 17]), 2, 17)
    assert counts.tolist() == [[1, 0], [0, 0]]


def test_messages():
    mask, logits = torch.randint(3, (2, 8, 8)), torch.randn(2, 3, 8, 8)
    for pred, target in ((2, 3), (3, 2), (-1, 2), (2, -1)):
        with raises_as_documented(PAGE, "ValueError: a class"):
            count_pixels(torch.tensor([pred]), torch.tensor([target]), 3)
    with raises_as_documented(PAGE, "IndexError: too many indices"):
        count_pixels(mask, mask[:, None], 3)
    with raises_as_documented(PAGE, "IndexError: The shape of the mask"):
        count_pixels(logits, mask, 3)
