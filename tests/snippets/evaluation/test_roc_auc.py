"""roc-auc: scores and targets of every dtype; what scikit-learn refuses."""

import re

import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from tests.helpers import ROOT, raises_as_documented

PAGE = "evaluation/roc-auc"
SOURCE = (ROOT / "snippets/evaluation/roc_auc.py").read_text("utf-8")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_the_answer_takes_scores_and_targets_as_they_come(dtype):
    head = SOURCE[SOURCE.index("from sklearn") : SOURCE.index("\n\ntorch.manual")]
    lines = SOURCE[SOURCE.index("truth,") : SOURCE.index("\nprint")]
    score, target = data(7)
    for kind in (torch.bool, torch.float32, torch.int64):
        names = {"score": score.to(dtype), "target": target.to(kind)}
        exec(f"{head}\n{lines}", names)
        assert names["auc"] == pytest.approx(roc_auc_score(target, score))
        assert names["ap"] == average_precision_score(target, score)


def test_three_classes_in_bfloat16_by_the_line_of_the_page():
    torch.manual_seed(0)
    target, logits = torch.arange(90) % 3, torch.randn(90, 3).bfloat16()
    logits[torch.arange(90), target] += 1
    with pytest.raises(TypeError, match="unsupported ScalarType BFloat16"):
        roc_auc_score(target, logits.softmax(1), multi_class="ovr")
    for lang in ("en", "zh"):
        page = (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8")
        (line,) = re.findall(r"^`(roc_auc_score\(.*\))`[.。]$", page, re.MULTILINE)
        names = {"target": target, "logits": logits, "roc_auc_score": roc_auc_score}
        auc = eval(line, names)
        p = logits.double().softmax(1)
        own = [roc_auc_score(target == c, p[:, c]) for c in range(3)]
        assert auc == pytest.approx(sum(own) / 3, abs=1e-3)


def data(levels, n=300):
    generator = torch.Generator().manual_seed(levels)
    target = torch.randint(2, (n,), generator=generator)
    score = torch.randint(levels, (n,), generator=generator) + target
    return score.float(), target


def test_messages():
    C3 = torch.randn(3, 3)
    with raises_as_documented(PAGE, "ValueError: multi_class"):
        roc_auc_score([0, 1, 2], C3)
    with raises_as_documented(PAGE, "ValueError: multi_class"):
        roc_auc_score([0, 1, -1], [0.1, 0.2, 0.3])
    with raises_as_documented(PAGE, "RuntimeError: Can't call numpy()"):
        roc_auc_score([0, 1], torch.rand(2, requires_grad=True))
    with raises_as_documented(PAGE, "ValueError: y should be"):
        roc_auc_score([0, 1, 1], C3[:, :2])
    with raises_as_documented(PAGE, "ValueError: Target scores"):
        roc_auc_score([0, 1, 2], C3, multi_class="ovr")
    with raises_as_documented(PAGE, "ValueError: Number of classes"):
        p = torch.randn(3, 4).softmax(1)
        roc_auc_score([0, 1, 2], p, multi_class="ovr")
    with raises_as_documented(PAGE, "ValueError: Input contains"):
        roc_auc_score([0, 1], [0.1, float("nan")])
    with raises_as_documented(PAGE, "ValueError: continuous format"):
        roc_auc_score([0.1, 0.7, 0.9], [0, 1, 1])
    with raises_as_documented(PAGE, "ValueError: multiclass format"):
        roc_curve([0, 1, 2], [0.1, 0.2, 0.3])
