"""segmentation-iou: against scikit-learn; absent and ignored classes."""

import numpy as np
import pytest
import torch
from sklearn.metrics import jaccard_score
from torch import nn
from torch.nn import functional as F
from torchmetrics import JaccardIndex
from torchmetrics.segmentation import MeanIoU

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "evaluation/segmentation-iou"
SNIPPET = "evaluation/segmentation_iou.py"
CODE = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
CODE = CODE[CODE.index("from torchmetrics") :]
CODE = CODE[: CODE.index("\n")] + "\n" + CODE[CODE.index("metric =") :]


def miou(pred, target, C, batch=3) -> float:
    """What the snippet finds where a model predicts these classes."""
    logits = F.one_hot(pred.long(), C).movedim(-1, 1).float()
    loader = list(zip(logits.split(batch), target.split(batch), strict=True))
    names = {"torch": torch, "C": C, "loader": loader, "model": nn.Identity()}
    exec(CODE.rpartition("print")[0], names | {"device": "cpu"}, found := {})
    return found["miou"]


@pytest.fixture
def masks():
    generator = torch.Generator().manual_seed(0)
    pred, target = torch.randint(3, (2, 7, 8, 8), generator=generator)
    target[:, 0] = 255
    return pred, target


@pytest.mark.parametrize("batch", [1, 3, 7])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64])
def test_all_pixels_count_alike(masks, batch, dtype):
    pred, target = masks
    keep = target != 255
    expected = jaccard_score(target[keep], pred[keep], average="macro")
    assert miou(pred, target.to(dtype), 3, batch) == pytest.approx(expected)


def test_absent_classes_are_left_out(masks):
    pred, target = masks
    assert miou(pred, target, 21) == pytest.approx(miou(pred, target, 3))
    pred[target == 255] = 5  # only seen where nothing is labelled
    assert miou(pred, target, 21) == pytest.approx(miou(pred % 3, target, 3), abs=1e-6)
    pred[0, 3, 3] = 7  # predicted once: counts, with an IoU of 0
    assert miou(pred, target, 21) == pytest.approx(
        3 / 4 * miou(pred.clamp(max=2), target, 3), rel=0.02
    )


def test_the_run():
    snippet = load_snippet(SNIPPET)
    assert not snippet.model.training
    assert 0 < snippet.miou < 1


def test_mean_iou_of_torchmetrics_averages_over_images():
    target = torch.tensor([[[0, 0, 0, 0]], [[0, 1, 1, 1]]])
    pred = torch.tensor([[[0, 0, 0, 1]], [[0, 1, 1, 1]]])
    metric = MeanIoU(num_classes=2, input_format="index")
    metric.update(pred, target)
    images = [miou(p[None], t[None], 2) for p, t in zip(pred, target, strict=True)]
    assert metric.compute().item() == pytest.approx(np.mean(images))
    assert metric.compute().item() != pytest.approx(miou(pred, target, 2))


def test_one_logit():
    torch.manual_seed(0)
    target = torch.randint(2, (3, 8, 8))
    logits = torch.rand(3, 1, 8, 8)  # all above 0: every pixel is the object
    known = target.clone()
    known[:, 0] = 255
    metric = JaccardIndex("binary", ignore_index=255)
    metric.update(logits.squeeze(1).sigmoid(), known)
    keep = known != 255
    expected = jaccard_score(target[keep], np.ones(keep.sum().item()))
    assert metric.compute().item() == pytest.approx(expected)
    metric.reset()
    metric.update(logits.squeeze(1), known)  # taken for probabilities
    assert metric.compute().item() < expected - 0.1


def test_messages(masks):
    pred, target = masks
    with raises_as_documented(PAGE, "RuntimeError: shape"):
        miou(pred, torch.where(target == 0, 3, target), 3)  # labels from 1 on
    with raises_as_documented(PAGE, "ValueError: ('The `preds`"):
        miou(pred, target[:, None], 3, 7)
    metric = JaccardIndex("multiclass", num_classes=3, ignore_index=255)
    logits = torch.randn(7, 2, 8, 8)
    start = "ValueError: If `preds` have one dimension more than `target`, `preds"
    with raises_as_documented(PAGE, start):
        metric.update(logits, target)
    small = torch.randn(7, 3, 2, 2)
    start = "ValueError: If `preds` have one dimension more than `target`, the"
    with raises_as_documented(PAGE, start):
        metric.update(small, target)
    metric.update(F.interpolate(small, size=target.shape[-2:], mode="bilinear"), target)
    shifted = torch.where(target == 255, -1, target)
    with raises_as_documented(PAGE, "RuntimeError: bincount"):
        metric.update(small.argmax(1).repeat(1, 4, 4), shifted)
    metric = JaccardIndex("multiclass", num_classes=3, ignore_index=-1)
    metric.update(pred, shifted)
    assert metric.compute().item() == pytest.approx(miou(pred, target, 3))
    metric.reset()
    with raises_as_documented(PAGE, "AttributeError: 'dict' object"):
        metric.update({"out": logits}, target)
