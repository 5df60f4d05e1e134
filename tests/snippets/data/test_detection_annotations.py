"""detection-annotations: hand-worked boxes, the models' own checks, pycocotools."""

import json
import tempfile
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
import torch
from pycocotools.coco import COCO
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn
from torchvision.ops import box_convert

from tests.helpers import load_snippet, raises_as_documented

PAGE = "data/detection-annotations"
with chdir(tempfile.mkdtemp()):  # it writes a file
    snippet = load_snippet("data/detection_annotations.py")
SOURCE = (
    Path(__file__).parents[3] / "snippets/data/detection_annotations.py"
).read_text()
READ = SOURCE[SOURCE.index("root, corners") : SOURCE.index("print(")]
SIZE = torch.tensor([200, 100, 200, 100])


def box(x1, y1, x2, y2):
    return (
        f"<bndbox><xmax>{x2}</xmax><xmin>{x1}</xmin>"
        f"<ymax>{y2}</ymax><ymin>{y1}</ymin></bndbox>"
    )


def read(tmp_path, *objects):
    """Run the lines that read a file, on another one."""
    path = tmp_path / "a.xml"
    size = "<size><width>200</width><height>100</height></size>"
    path.write_text(f"<annotation>{size}{''.join(objects)}</annotation>")
    scope = {**vars(snippet), "path": path}
    exec(READ, scope)
    return scope["boxes"], scope["labels"] - 1, scope["yolo"]


def test_by_hand():
    assert snippet.boxes.tolist() == [[50, 20, 150, 80]]
    assert snippet.boxes.dtype == torch.float32
    assert snippet.labels.tolist() == [2]
    assert snippet.labels.dtype == torch.int64
    torch.testing.assert_close(snippet.yolo, torch.tensor([[0.5, 0.5, 0.5, 0.6]]))


def test_any_order_of_the_four_and_no_parts(tmp_path):
    head = f"<part><name>head</name>{box(3, 3, 4, 4)}</part>"
    person = f"<object><name>person</name>{head}{box(0, 0, 200, 100)}</object>"
    dog = f"<object><name>dog</name>{box(0, 50, 100, 100)}</object>"
    boxes, ids, yolo = read(tmp_path, person, dog)
    assert boxes.tolist() == [[0, 0, 200, 100], [0, 50, 100, 100]]
    assert ids.tolist() == [0, 1]
    expected = torch.tensor([[0.5, 0.5, 1, 1], [0.25, 0.75, 0.5, 0.5]])
    torch.testing.assert_close(yolo, expected)
    torch.testing.assert_close(box_convert(yolo * SIZE, "cxcywh", "xyxy"), boxes)


@pytest.fixture(scope="module")
def model():
    return fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None,
        weights_backbone=None,
        num_classes=3,
        min_size=100,
        max_size=200,
        rpn_pre_nms_top_n_train=20,
        rpn_post_nms_top_n_train=20,
        box_batch_size_per_image=4,
    ).train()


def train(model, boxes, labels):
    return model([torch.rand(3, 100, 200)], [{"boxes": boxes, "labels": labels}])


def test_an_image_without_objects(tmp_path, model):
    boxes, ids, yolo = read(tmp_path)
    assert boxes.shape == yolo.shape == (0, 4)
    assert ids.dtype == torch.int64
    assert len(train(model, boxes, ids + 1)) == 4
    with raises_as_documented(PAGE, "AssertionError: Expected target"):
        train(model, torch.tensor([]), ids)
    with raises_as_documented(PAGE, "TypeError: target labels must"):
        train(model, snippet.boxes, torch.tensor([2.0]))


def test_the_target_is_what_torchvision_wants(model):
    assert all(
        loss.isfinite() for loss in train(model, snippet.boxes, snippet.labels).values()
    )
    with raises_as_documented(PAGE, "AssertionError: All bounding"):
        train(model, torch.tensor([[30.0, 20, 10, 12]]), torch.tensor([1]))
    train(model, torch.tensor([[10.0, 20, 30, 40]]), torch.tensor([1]))  # xywh, unseen
    with pytest.raises(IndexError, match="Target 3 is out of bounds"):
        train(model, snippet.boxes, torch.tensor([3]))
    train(model, snippet.boxes, torch.tensor([0]))  # the background, unseen


def test_the_txt_of_yolo(tmp_path):
    file, fmt = tmp_path / "a.txt", ["%d"] + ["%.6f"] * 4
    ids, yolo = torch.tensor([1, 0]), torch.tensor([[0.5, 0.25, 1, 1], [0.1, 0, 0, 0]])
    np.savetxt(file, torch.column_stack((ids, yolo)), fmt=fmt)
    lines = ["1 0.500000 0.250000 1.000000 1.000000", "0 0.100000" + 3 * " 0.000000"]
    assert file.read_text().splitlines() == lines
    *_, yolo = read(tmp_path)
    np.savetxt(file, torch.column_stack((torch.tensor([]), yolo)), fmt=fmt)
    assert file.read_text() == ""


@pytest.mark.filterwarnings("ignore:loadtxt")
@pytest.mark.parametrize("lines", [[], ["1 0.5 0.25 1 1"], ["1 0.5 0.25 1 1"] * 2])
def test_a_txt_is_read_also_if_it_is_empty(lines, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("\n".join(lines))
    rows = torch.tensor(np.loadtxt("a.txt", ndmin=2)).reshape(-1, 5)
    w, h = 200, 100
    boxes = rows[:, 1:] * torch.tensor([w, h, w, h])
    boxes = box_convert(boxes, "cxcywh", "xyxy").float()
    labels = rows[:, 0].long() + 1
    assert labels.tolist() == [2] * len(lines)
    assert (boxes.shape, boxes.dtype) == ((len(lines), 4), torch.float32)
    assert boxes.tolist() == [[0, -25, 200, 75]] * len(lines)


def test_a_box_without_area_is_dropped(model):
    boxes, labels = torch.tensor([[5.0, 5, 5, 9], [1, 1, 8, 8]]), torch.tensor([1, 2])
    with pytest.raises(AssertionError, match="positive height and width"):
        train(model, boxes, labels)
    keep = (boxes[:, 2:] > boxes[:, :2]).all(dim=1)
    assert keep.tolist() == [False, True]
    train(model, boxes[keep], labels[keep])


def test_an_unknown_class(tmp_path):
    cat = f"<object><name>cat</name>{box(1, 1, 2, 2)}</object>"
    with raises_as_documented(PAGE, "ValueError: 'cat'"):
        read(tmp_path, cat)


def test_coco(tmp_path, capsys):
    xywh = box_convert(snippet.boxes, "xyxy", "xywh")
    assert xywh.tolist() == [[50, 20, 100, 60]]
    annotation = {"id": 1, "image_id": 7, "category_id": 18, "bbox": xywh[0].tolist()}
    categories = [{"id": 18, "name": "dog"}, {"id": 1, "name": "person"}]
    file = tmp_path / "coco.json"
    file.write_text(
        json.dumps(
            {
                "images": [{"id": 7}],
                "annotations": [annotation],
                "categories": categories,
            }
        )
    )
    coco = COCO(file)
    capsys.readouterr()
    label = {c: i for i, c in enumerate(sorted(coco.getCatIds()), 1)}
    assert label == {1: 1, 18: 2}
    (read_back,) = coco.loadAnns(coco.getAnnIds(imgIds=7))
    boxes = box_convert(torch.tensor([read_back["bbox"]]), "xywh", "xyxy")
    assert torch.equal(boxes, snippet.boxes)
