"""metric-averaging: one process and two, against NumPy's mean of all samples."""

import math

import numpy as np
import pytest
import torch
import torch.distributed as dist
from sklearn.metrics import f1_score
from torch.nn import functional as F
from torchmetrics.aggregation import MeanMetric

from tests.helpers import in_two_processes, load_snippet, raises_as_documented

PAGE = "evaluation/metric-averaging"
snippet = load_snippet("evaluation/metric_averaging.py")

DRIVER = """
import os, runpy, sys, torch, torch.distributed as dist
from torchmetrics.aggregation import MeanMetric
snippet = runpy.run_path(sys.argv[1])

def work(rank):
    snippet["work"](rank, os.getcwd())  # prints
    dist.init_process_group("gloo")
    meter, metric = snippet["AverageMeter"](), MeanMetric()
    for batch in torch.load("losses.pt")[rank].split(16):
        meter.update(batch.mean(), len(batch))
        metric.update(batch.mean(), weight=len(batch))
    means = [meter.compute(), metric.compute().item()]

    none = snippet["AverageMeter"]()  # a process without samples
    if rank == 1:
        none.update(2.5, 4)
    own = torch.tensor(meter.total / meter.n)
    dist.all_reduce(own)
    torch.save([*means, none.compute(), own.item() / 2], f"{rank}.pt")
    dist.destroy_process_group()
"""


def test_two_processes(tmp_path):
    generator = torch.Generator().manual_seed(0)
    losses = torch.rand(100, generator=generator)
    losses[70:] += 3
    torch.save(losses.split([70, 30]), tmp_path / "losses.pt")
    printed = in_two_processes(tmp_path, DRIVER, snippet.__file__)
    assert printed == "mean 4.00, mean of means 5.00\n"
    assert np.arange(9).mean() == 4
    assert np.mean([np.mean([1.5, 4.5]), 7]) == 5  # by hand
    expected = losses.double().numpy().mean()
    for rank in range(2):
        mean, metric, none, naive = torch.load(tmp_path / f"{rank}.pt")
        assert mean == pytest.approx(expected)
        assert metric == pytest.approx(expected)
        assert none == 2.5
        assert abs(naive - expected) > 0.3


def averaged(batches):
    meter = snippet.AverageMeter()
    for value, n in batches:
        meter.update(value, n)
    return meter.compute()


def test_one_process():
    losses = torch.arange(10.0) ** 2
    batches = [(batch.mean(), len(batch)) for batch in losses.split(4)]
    assert averaged(batches) == pytest.approx(losses.mean().item())
    naive = sum(value.item() for value, _ in batches) / 3
    assert abs(naive - losses.mean().item()) > 5
    assert averaged([(0.5, 3), (1.0, 1)]) == 0.625
    assert math.isnan(averaged([]))


def test_it_keeps_no_graph_and_counts_exactly():
    loss = torch.tensor(2.0, requires_grad=True)
    meter = snippet.AverageMeter()
    meter.update(loss, 2)
    assert (type(meter.total), meter.total, meter.n) == (float, 4.0, 2)
    big = 2**24 + 1  # not a float32
    assert averaged([(1.0, big), (0.0, big)]) == 0.5
    assert averaged([(1.0, big - 2), (0.0, 2)]) == (big - 2) / big


def test_what_cross_entropy_divides_by():
    logits, y = torch.randn(12, 3), torch.arange(12) % 3
    y[[0, 4, 5, 6]] = -100
    parts = list(zip(logits.split(5), y.split(5), strict=True))
    tokens = [(F.cross_entropy(a, b), (b != -100).sum().item()) for a, b in parts]
    whole = F.cross_entropy(logits, y).item()
    assert averaged(tokens) == pytest.approx(whole, rel=1e-5)

    y, weight = torch.arange(12) % 3, torch.tensor([1.0, 5.0, 0.5])
    parts = list(zip(logits.split(5), y.split(5), strict=True))
    weighted = [
        (F.cross_entropy(a, b, weight), weight[b].sum().item()) for a, b in parts
    ]
    whole = F.cross_entropy(logits, y, weight).item()
    assert averaged(weighted) == pytest.approx(whole, rel=1e-5)


@pytest.mark.usefixtures("own_process")
def test_a_group_for_gpus_takes_no_tensor_of_the_cpu():
    store = dist.HashStore()
    dist.init_process_group("cuda:gloo", store=store, rank=0, world_size=1)
    try:
        with raises_as_documented(PAGE, "RuntimeError: No backend"):
            averaged([(1.0, 1)])
    finally:
        dist.destroy_process_group()


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
