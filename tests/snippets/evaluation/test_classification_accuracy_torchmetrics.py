"""classification-accuracy: torchmetrics' counts against scikit-learn's."""

import pytest
import torch
from sklearn import metrics

from tests.helpers import load_snippet


def test_against_scikit_learn():
    snippet = load_snippet("evaluation/classification_accuracy_torchmetrics.py")
    logits, target = (torch.cat(parts) for parts in zip(*snippet.loader, strict=True))
    for k, name in ((1, "top1"), (5, "top5")):
        expected = metrics.top_k_accuracy_score(target, logits, k=k, labels=range(10))
        assert snippet.result[name].item() == pytest.approx(expected)
    each = metrics.recall_score(target, logits.argmax(1), average=None)
    assert snippet.result["each"].tolist() == pytest.approx(list(each))
