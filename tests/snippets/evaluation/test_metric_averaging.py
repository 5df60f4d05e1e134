"""metric-averaging: against NumPy's mean over all samples, and torchmetrics'."""

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score
from torch import nn
from torch.nn import functional as F
from torchmetrics.aggregation import MeanMetric

from tests.helpers import ROOT, load_snippet

SNIPPET = "evaluation/metric_averaging.py"
CODE = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
CODE = CODE[CODE.index("model.eval()") : CODE.index("\nbatches = ")]


def averaged(loader, loss_fn=None, model=None) -> float:
    """The mean that the snippet finds for this loader and this loss."""
    names = {"torch": torch, "loader": loader, "device": torch.device("cpu")}
    names |= {"model": model or nn.Identity(), "loss_fn": loss_fn or nn.L1Loss()}
    exec(CODE, names)
    return names["mean"]


def test_the_run():
    snippet = load_snippet(SNIPPET)
    assert snippet.mean == np.arange(6).mean() == 2.5
    assert np.mean([batch.item() for batch in snippet.batches]) == np.mean([1.5, 4.5])


@pytest.mark.parametrize("size", [1, 4, 7, 100])
def test_the_batch_size_does_not_matter(size):
    torch.manual_seed(0)
    x, y = torch.randn(2, 29, 3)
    loader = list(zip(x.split(size), y.split(size), strict=True))
    expected = np.abs(x.double().numpy() - y.double().numpy()).mean()
    assert averaged(loader) == pytest.approx(expected, rel=1e-5)
    metric = MeanMetric()
    for a, b in loader:
        metric.update(F.l1_loss(a, b), weight=len(b))
    assert metric.compute().item() == pytest.approx(expected, rel=1e-5)


def test_no_dropout_and_low_precision_losses():
    x, y = torch.ones(9, 4), torch.zeros(9, 4)
    loader = [(x, y)] * 300  # a sum in bfloat16 would stop at 256
    mean = averaged(loader, lambda p, t: F.l1_loss(p, t).bfloat16(), nn.Dropout())
    assert mean == 1


@pytest.mark.parametrize("weight", [None, torch.tensor([1.0, 5.0, 0.5])])
def test_what_cross_entropy_divides_by(weight):
    """A batch of padding alone counts nothing; its own mean would be NaN."""
    torch.manual_seed(0)
    logits, y = torch.randn(15, 3), torch.arange(15) % 3
    y[[0, 5, 6, 10, 11, 12, 13, 14]] = -100
    total = count = 0
    for a, b in zip(logits.split(5), y.split(5), strict=True):
        total += F.cross_entropy(a, b, weight, reduction="sum").item()
        kept = b != -100
        count += kept.sum().item() if weight is None else weight[b[kept]].sum().item()
    whole = F.cross_entropy(logits, y, weight).item()
    assert total / count == pytest.approx(whole, rel=1e-5)
    parts = list(zip(logits.split(5), y.split(5), strict=True))
    assert np.isnan(averaged(parts, F.cross_entropy))
    assert averaged(parts[:2], F.cross_entropy) != pytest.approx(whole, rel=1e-3)


def test_f1_is_not_a_mean_over_batches():
    target, pred = np.array([1, 1, 0, 0, 0, 1]), np.array([1, 1, 1, 0, 1, 0])
    scores = [f1_score(target[i : i + 3], pred[i : i + 3]) for i in (0, 3)]
    assert abs(np.mean(scores) - f1_score(target, pred)) > 0.1


def test_torchmetrics_leaves_nan_out():
    mean = MeanMetric()
    mean.update(1.0, weight=2)
    with pytest.warns(UserWarning, match="Encountered `nan`"):
        mean.update(float("nan"), weight=2)
    assert mean.compute() == 1
    with pytest.raises(RuntimeError, match="Encountered `nan`"):
        MeanMetric(nan_strategy="error").update(float("nan"))
    mean.reset()
    mean.update(3.0, weight=1)
    assert mean.compute() == 3
