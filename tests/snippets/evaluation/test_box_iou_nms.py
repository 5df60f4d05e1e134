"""box-iou-nms: IoU against counted cells, NMS against a greedy loop; bad input."""

import numpy as np
import pytest
import torch
from torchvision import ops

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("evaluation/box_iou_nms.py")
PAGE = "evaluation/box-iou-nms"


def cells(box, size=50):
    """The cells of a grid that a box of whole numbers covers."""
    x1, y1, x2, y2 = (int(v) for v in box)
    grid = np.zeros((size, size), dtype=bool)
    grid[y1:y2, x1:x2] = True
    return grid


def counted(a, b):
    a, b = cells(a), cells(b)
    return (a & b).sum() / (a | b).sum()


def greedy(boxes, scores, labels, threshold):
    kept = []
    for i in scores.argsort(descending=True).tolist():
        rivals = (j for j in kept if labels[j] == labels[i])
        if all(counted(boxes[i], boxes[j]) <= threshold for j in rivals):
            kept.append(i)
    return kept


@pytest.fixture
def drawn():
    generator = torch.Generator().manual_seed(0)
    corners = torch.randint(12, (40, 2), generator=generator)
    sizes = torch.randint(3, 20, (40, 2), generator=generator)
    boxes = torch.cat([corners, corners + sizes], 1).float()
    scores = torch.rand(40, generator=generator)
    return boxes, scores, torch.arange(40) % 3


def test_iou_counts_cells():
    expected = [[counted(b, t) for t in snippet.truth] for b in snippet.boxes]
    np.testing.assert_allclose(snippet.iou, expected, rtol=1e-6)
    assert snippet.iou[0, 0] == pytest.approx(0.9)
    assert snippet.iou[0, 1] == 0


def test_kept_boxes():
    assert snippet.keep.tolist() == [0, 2, 3]
    assert snippet.labels.tolist() == [0, 1, 2]
    assert snippet.scores.tolist() == pytest.approx([0.9, 0.7, 0.6])


@pytest.mark.parametrize(
    "dtype", [torch.int64, torch.float64, torch.float16, torch.bfloat16], ids=str
)
def test_the_answer_takes_boxes_of_any_dtype(drawn, dtype):
    boxes, scores, labels = drawn
    half = scores.to(dtype if dtype.is_floating_point else torch.float64)
    names = {"boxes": boxes.to(dtype), "scores": half, "labels": labels}
    names["truth"] = boxes[:3]
    exec(answer("box-iou-nms"), names)
    assert names["keep"].tolist() == greedy(boxes, half, labels, 0.5)


def test_half_precision_has_no_room_for_the_offsets_of_classes(monkeypatch):
    """As on a GPU, whose NMS takes float16; nms itself computes in float32 here."""
    nms = ops.nms
    monkeypatch.setattr(
        ops.boxes, "nms", lambda boxes, scores, t: nms(boxes.float(), scores.float(), t)
    )
    generator = torch.Generator().manual_seed(0)
    corners = 600 * torch.rand(200, 2, generator=generator)
    boxes = torch.cat([corners, corners + 40], 1).half()  # pixels of a photo
    scores, labels = torch.rand(200, generator=generator).half(), torch.full((200,), 79)
    expected = nms(boxes.float(), scores.float(), 0.5).tolist()
    assert ops.batched_nms(boxes, scores, labels, 0.5).tolist() != expected
    names = {"boxes": boxes, "scores": scores, "labels": labels, "truth": boxes}
    exec(answer("box-iou-nms"), names)
    assert names["keep"].tolist() == expected


@pytest.mark.parametrize("threshold", [0.2, 0.5])
def test_batched_nms_is_greedy_per_class(drawn, threshold):
    boxes, scores, labels = drawn
    kept = ops.batched_nms(boxes, scores, labels, threshold).tolist()
    assert kept == greedy(boxes, scores, labels, threshold)
    assert len(kept) < 40
    agnostic = ops.nms(boxes, scores, threshold).tolist()
    assert agnostic == greedy(boxes, scores, torch.zeros(40), threshold)
    assert len(agnostic) < len(kept)


def test_the_format_of_the_boxes():
    box = torch.tensor([[50.0, 50, 10, 10]])
    assert ops.box_iou(box, box) == 0  # width and height taken for a corner
    corners = ops.box_convert(box, "xywh", "xyxy")
    assert corners.tolist() == [[50, 50, 60, 60]]
    assert ops.box_convert(box, "cxcywh", "xyxy").tolist() == [[45, 45, 55, 55]]
    assert ops.box_iou(corners, corners) == 1


def test_a_batch_of_images_keeps_its_classes_apart():
    boxes = torch.tensor([[0.0, 0, 10, 10], [0, 0, 10, 9]]).repeat(3, 1)
    scores = torch.tensor([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    image = torch.tensor([0, 0, 1, 1, 2, 2])
    labels = torch.tensor([0, 1, 2, 2, 1, 0])  # image 1: one class twice
    kept = ops.batched_nms(boxes, scores, image * 3 + labels, 0.5)
    assert kept.tolist() == [0, 1, 2, 4, 5]
    assert ops.batched_nms(boxes, scores, image, 0.5).tolist() == [0, 2, 4]


def test_coordinates_below_0(drawn):
    """As in a bird's-eye view: classes meet unless all coordinates are positive."""
    boxes, scores, labels = drawn
    expected = greedy(boxes, scores, labels, 0.2)
    below = boxes - 20
    assert ops.batched_nms(below, scores, labels, 0.2).tolist() != expected
    moved = below - below.min()
    assert ops.batched_nms(moved, scores, labels, 0.2).tolist() == expected


def test_no_boxes():
    none = torch.zeros(0, 4)
    assert ops.box_iou(none, snippet.truth).shape == (0, 2)
    empty = torch.zeros(0)
    assert ops.batched_nms(none, empty, empty, 0.5).tolist() == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda b, s: (b.long(), s), "\"nms_kernel\" not implemented for 'Long'"),
        (lambda b, s: (b.half(), s.half()), "not implemented for 'Half'"),
        (lambda b, s: (b.bfloat16(), s.bfloat16()), "not implemented for 'BFloat16'"),
        (lambda b, s: (b.double(), s), "dets should have the same type as scores"),
        (
            lambda b, s: (torch.cat([b, s[:, None]], 1), s),
            "boxes should have 4 elements in dimension 1, got 5",
        ),
        (lambda b, s: (b, s[:, None]), "scores should be a 1d tensor, got 2D"),
    ],
)
def test_what_nms_refuses(change, text):
    with pytest.raises(RuntimeError, match=text):  # NotImplementedError is one
        ops.nms(*change(snippet.boxes, snippet.scores), 0.5)


def test_a_list():
    one = torch.ones(1)
    with raises_as_documented(PAGE, "AttributeError: 'list' object"):
        ops.batched_nms([[0, 0, 1, 1]], one, one, 0.5)
    with pytest.raises(AttributeError, match=r"'numpy\.ndarray' object has no"):
        ops.batched_nms(np.ones((1, 4)), one, one, 0.5)
    with pytest.raises(AttributeError, match="'is_floating_point'"):
        ops.box_iou([[0, 0, 1, 1]], [[0, 0, 1, 1]])


def test_losses_have_a_gradient_where_boxes_do_not_touch():
    far = torch.tensor([[20.0, 20, 30, 30]])
    for loss_of in (
        ops.generalized_box_iou_loss,
        ops.distance_box_iou_loss,
        ops.complete_box_iou_loss,
    ):
        box = torch.tensor([[0.0, 0, 10, 10]], requires_grad=True)
        loss_of(box, far, reduction="mean").backward()
        assert box.grad.abs().sum() > 0
    box = torch.tensor([[0.0, 0, 10, 10]], requires_grad=True)
    (1 - ops.box_iou(box, far)).sum().backward()
    assert box.grad.abs().sum() == 0
    giou = 1 - ops.generalized_box_iou_loss(far, far + 5)
    torch.testing.assert_close(giou, ops.generalized_box_iou(far, far + 5)[0])
