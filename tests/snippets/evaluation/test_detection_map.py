"""detection-map: AP worked out by hand, and the definition in NumPy on random boxes."""

import numpy as np
import pytest
import torch
from pycocotools.coco import COCO
from torchmetrics.detection import MeanAveragePrecision, mean_ap
from torchvision.ops import box_iou

from tests.helpers import load_snippet, raises_as_documented

PAGE = "evaluation/detection-map"
snippet = load_snippet("evaluation/detection_map.py")
NOTHING = {"boxes": torch.empty(0, 4), "labels": torch.empty(0, dtype=torch.int64)}


def average_precision(preds, targets, label, threshold):
    """AP of one class: greedy matches by score, precision at 101 recalls."""
    rows, total = [], 0
    for pred, target in zip(preds, targets, strict=True):
        truth = target["boxes"][target["labels"] == label].double()
        keep = pred["labels"] == label
        total += len(truth)
        free = set(range(len(truth)))
        order = pred["scores"][keep].argsort(descending=True, stable=True)
        for i in order:
            iou = box_iou(pred["boxes"][keep][i, None].double(), truth)[0].numpy()
            best = max(free, key=lambda j: iou[j], default=None)
            hit = best is not None and iou[best] >= threshold
            if hit:
                free.remove(best)
            rows.append((-pred["scores"][keep][i].item(), hit))
    hits = np.cumsum([hit for _, hit in sorted(rows, key=lambda row: row[0])])
    precision = hits / np.arange(1, len(rows) + 1)
    recall = hits / total
    ap = 0.0
    for point in np.linspace(0, 1, 101):
        ap += max(precision[recall >= point - 1e-9], default=0.0) / 101
    return ap


def scene(generator, boxes, classes=2):
    corner = 80 * torch.rand(boxes, 2, generator=generator)
    side = 20 + 20 * torch.rand(boxes, 2, generator=generator)
    labels = torch.randint(1, classes + 1, (boxes,), generator=generator)
    return {"boxes": torch.cat((corner, corner + side), 1), "labels": labels}


def computed(preds, targets, **options):
    metric = MeanAveragePrecision(class_metrics=True, **options)
    metric.update(preds, targets)
    return metric.compute()


@pytest.fixture
def random():
    generator = torch.Generator().manual_seed(0)
    targets = [scene(generator, 4) for _ in range(12)]
    preds = []
    for target in targets:
        noise = 3 * torch.randn(4, 4, generator=generator)
        other = scene(generator, 3)
        boxes = torch.cat((target["boxes"] + noise, other["boxes"]))
        labels = torch.cat((target["labels"], other["labels"]))
        scores = torch.rand(7, generator=generator)
        preds.append({"boxes": boxes, "scores": scores, "labels": labels})
    return preds, targets


def test_by_hand():
    # Class 1 has two objects; by score: hit, miss, and a hit of IoU 70 / 90.
    loose = (51 * 1 + 50 * 2 / 3) / 101  # .5, .55, ..., .75: recall 1 is reached
    strict = 51 / 101  # .8 to .95: half of the objects is found
    first = (6 * loose + 4 * strict) / 10
    assert snippet.result["map_per_class"].tolist() == pytest.approx([first, 0])
    assert snippet.result["classes"].tolist() == [1, 2]
    assert torch.equal(snippet.seen[0][:1], snippet.truth[0])
    assert box_iou(snippet.seen[1], snippet.truth[1])[0, 0].item() == pytest.approx(
        70 / 90
    )
    assert snippet.result["map"].item() == pytest.approx(first / 2)  # 2 is missed
    assert snippet.result["map_50"].item() == pytest.approx(loose / 2)


def test_what_is_printed(capsys):
    load_snippet("evaluation/detection_map.py")
    assert capsys.readouterr().out.splitlines() == [
        "mAP@.5 0.417, mAP@[.5:.95] 0.351",
        "class 1: 0.703",
        "class 2: 0.000",
    ]


def test_it_is_the_definition(random):
    result = computed(*random)
    aps = np.array(
        [
            [average_precision(*random, label, t) for t in np.arange(0.5, 1, 0.05)]
            for label in (1, 2)
        ]
    )
    assert 0.1 < aps.mean() < 0.9
    assert result["map"].item() == pytest.approx(aps.mean(), abs=1e-4)
    assert result["map_50"].item() == pytest.approx(aps[:, 0].mean(), abs=1e-4)
    np.testing.assert_allclose(result["map_per_class"], aps.mean(1), atol=1e-4)
    only = computed(*random, iou_thresholds=[0.5])["map"]
    assert only == result["map_50"]


def test_a_threshold_on_the_score_lowers_map(random):
    preds, targets = random
    cut = [{k: v[p["scores"] > 0.5] for k, v in p.items()} for p in preds]
    assert computed(cut, targets)["map"] < computed(preds, targets)["map"] - 0.05


def test_batches_add_up_and_reset(random):
    preds, targets = random
    metric = MeanAveragePrecision()
    for i in range(0, 12, 5):
        metric.update(preds[i : i + 5], targets[i : i + 5])
    assert metric.compute()["map"] == computed(preds, targets)["map"]
    metric.reset()
    metric.update(snippet.preds, snippet.targets)
    assert metric.compute()["map"] == snippet.result["map"]


def test_images_without_objects_or_predictions():
    none = NOTHING | {"scores": torch.empty(0)}
    assert computed([none], [NOTHING])["map"] == -1
    wrong = snippet.preds[0]  # two boxes where nothing is
    preds, targets = [*snippet.preds, none], [*snippet.targets, NOTHING]
    assert computed(preds, targets)["map"] == snippet.result["map"]
    assert computed([*preds, wrong], [*targets, NOTHING])["map"] < 0.32
    other = {"labels": torch.tensor([3]), "scores": torch.tensor([0.9])}
    preds = [snippet.preds[0], none | other | {"boxes": torch.ones(1, 4)}]
    result = computed(preds, [snippet.targets[0], NOTHING])
    assert result["map_per_class"].tolist() == [1, -1]  # 3 is never true
    assert result["map"] == 1


def test_the_numbers_of_a_single_class_have_no_dimension():
    result = computed(snippet.preds[:1], snippet.targets[:1])
    with raises_as_documented(PAGE, "TypeError: iteration over a 0-d tensor"):
        list(result["classes"])
    assert result["classes"].view(-1).tolist() == [1]
    assert result["map_per_class"].view(-1).tolist() == [1]


def test_the_format_matters(random):
    preds, targets = random
    sides = [
        d | {"boxes": torch.cat((b[:, :2], b[:, 2:] - b[:, :2]), 1)}
        for d in targets
        for b in [d["boxes"]]
    ]
    assert computed(preds, sides)["map"] < 0.05


def test_more_than_a_hundred_boxes_of_an_image():
    generator = torch.Generator().manual_seed(0)
    pred = scene(generator, 101) | {"scores": torch.rand(101, generator=generator)}
    with raises_as_documented(PAGE, "UserWarning: Encountered more than 100"):
        MeanAveragePrecision().update([pred], [NOTHING])
    options = {"max_detection_thresholds": [1, 10, 300]}
    assert computed(snippet.preds, snippet.targets, **options)["map"] == -1


def test_what_is_refused(monkeypatch):
    with raises_as_documented(PAGE, "ValueError: Expected argument `preds` to be of"):
        MeanAveragePrecision().update(snippet.preds[0], snippet.targets[0])
    with raises_as_documented(PAGE, "ValueError: Expected all dicts in `preds` to"):
        MeanAveragePrecision().update([NOTHING], [NOTHING])
    monkeypatch.setattr(mean_ap, "_PYCOCOTOOLS_AVAILABLE", False)
    monkeypatch.setattr(mean_ap, "_FASTER_COCO_EVAL_AVAILABLE", False)
    with raises_as_documented(PAGE, "ModuleNotFoundError: `MAP` metric requires"):
        MeanAveragePrecision()


def test_results_of_images_that_are_not_annotated():
    coco = COCO()
    coco.dataset = {"images": [{"id": 1}], "annotations": [], "categories": []}
    coco.createIndex()
    found = {"category_id": 1, "bbox": [0, 0, 1, 1], "score": 0.5}
    coco.loadRes([{"image_id": 1, **found}])
    start = "AssertionError: Results do not correspond"
    with raises_as_documented(PAGE, start):
        coco.loadRes([{"image_id": "1.jpg", **found}])
