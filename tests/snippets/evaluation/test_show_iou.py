"""show-iou: the pixels counted one by one, and torchmetrics."""

import pytest
import torch
from torchmetrics.functional import f1_score, jaccard_index

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("evaluation/show_iou.py")


def masks(drawn):
    return {ax.get_title(): ax.images[0].get_array().data for ax in drawn.axes}


def test_the_masks_and_their_pixels(drawn):
    shown = masks(drawn)
    sets = {
        name: {(i, j) for i, row in enumerate(mask) for j, on in enumerate(row) if on}
        for name, mask in shown.items()
    }
    assert sets["intersection"] == sets["target"] & sets["pred"]
    assert sets["union"] == sets["target"] | sets["pred"]
    assert sets["pred"] == {(i, j + 6) for i, j in sets["target"]}
    for ax in drawn.axes:
        assert ax.texts[0].get_text() == f"{len(sets[ax.get_title()])} pixels"


def test_the_title_says_what_torchmetrics_says(drawn):
    shown = {name: torch.tensor(mask).int() for name, mask in masks(drawn).items()}
    iou = jaccard_index(shown["pred"], shown["target"], "binary")
    f1 = f1_score(shown["pred"], shown["target"], "binary")
    said = drawn.fig.get_suptitle()
    assert said == f"IoU = 173 / 397 = {iou:.2f}, Dice {f1:.2f}"
