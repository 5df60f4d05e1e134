"""segmentation-iou: IoU, Dice and pixel accuracy of each class, by scikit-learn."""

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, f1_score, jaccard_score

from tests.helpers import ROOT, load_snippet

SNIPPET = "evaluation/segmentation_iou_per_class.py"
CODE = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
CODE = CODE[CODE.index("from torchmetrics") :]
CODE = CODE[: CODE.index("\n")] + "\n" + CODE[CODE.index("metric =") :]


def test_against_scikit_learn():
    torch.manual_seed(0)
    pred, target = torch.randint(3, (2, 7, 8, 8))
    target[:, 0] = 255
    batches = zip(pred.split(3), target.split(3), strict=True)
    exec(CODE.partition("print")[0], {"C": 5, "batches": batches}, found := {})
    target, pred = (masks[target != 255] for masks in (target, pred))
    for name, score in (("iou", jaccard_score), ("dice", f1_score)):
        np.testing.assert_allclose(
            found[name][:3], score(target, pred, average=None), rtol=1e-6
        )
        assert found[name][3:].isnan().all()
    share = found["hit"].sum() / found["counts"].sum()
    assert share.item() == pytest.approx(accuracy_score(target, pred))


def test_by_hand():
    snippet = load_snippet(SNIPPET)
    assert snippet.iou[:3].tolist() == pytest.approx([4 / 6, 1 / 2, 0])
    assert snippet.iou[3].isnan()  # neither there nor predicted
    assert snippet.counts.tolist()[0] == [4, 0, 1, 0]  # rows are true classes
