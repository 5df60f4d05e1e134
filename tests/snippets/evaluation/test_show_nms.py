"""show-nms: greedy suppression by hand, over the boxes that are drawn."""

import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("evaluation/show_nms.py")


def rectangles(ax):
    return {
        text.get_text(): (patch.get_bbox().extents.tolist(), patch.get_edgecolor())
        for text, patch in zip(ax.texts, ax.patches, strict=True)
    }


def iou(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    both = max(width, 0) * max(height, 0)
    areas = [(x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in (a, b)]
    return both / (sum(areas) - both)


def test_the_best_of_two_that_overlap_stays(drawn):
    every, one, two = (rectangles(ax) for ax in drawn.axes)
    best, other, alone = (every[score][0] for score in ("0.9", "0.8", "0.7"))
    assert round(iou(best, other), 2) == 0.52, "the page says so"
    assert iou(best, alone) == iou(other, alone) == 0
    assert set(one) == {"0.9", "0.7"}
    assert set(two) == set(every) == {"0.9", "0.8", "0.7"}
    for panel in (one, two):
        assert all(panel[score][0] == every[score][0] for score in panel)


def test_a_colour_for_each_class(drawn):
    every, one, two = (rectangles(ax) for ax in drawn.axes)
    assert len({colour for panel in (every, one) for _, colour in panel.values()}) == 1
    assert two["0.9"][1] == two["0.7"][1] != two["0.8"][1]
