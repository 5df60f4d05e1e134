"""ddp-gather-metrics: two processes with uneven shares, against scikit-learn."""

import numpy as np
import pytest
import torch
import torch.distributed as dist
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DistributedSampler, TensorDataset

from tests.chains.pasted import answer
from tests.helpers import in_two_processes, load_snippet, raises_as_documented

SNIPPET = "distributed/ddp_gather_metrics.py"
PAGE = "distributed/ddp-gather-metrics"
snippet = load_snippet(SNIPPET)

DRIVER = """
import runpy, sys, torch, torch.distributed as dist
from torch.utils.data import DistributedSampler, TensorDataset
from torchmetrics.classification import BinaryAUROC, MulticlassAccuracy
run = runpy.run_path(sys.argv[1])
evaluate, gather_in_order = run["evaluate"], run["gather_in_order"]
seen = []

class Given(torch.nn.Module):  # the data are the logits
    def forward(self, x):
        seen.append(len(x))
        return x

def work(rank):
    dist.init_process_group("gloo")
    x, y = torch.load("data.pt")
    loss, accuracy, predicted = evaluate(Given(), TensorDataset(x, y), "cpu", 4)
    predicted = gather_in_order(predicted)

    metric, auc = MulticlassAccuracy(num_classes=3, average="micro"), BinaryAUROC()
    for i in range(rank, len(y), 2):
        metric.update(x[i : i + 1], y[i : i + 1])
        auc.update(x[i : i + 1, 0].sigmoid(), (y[i : i + 1] == 0).long())
    scores = [metric.compute().item(), auc.compute().item()]

    own = x[list(DistributedSampler(x, shuffle=False))]  # one is repeated
    parts = [torch.empty_like(own) for _ in range(2)]
    dist.all_gather(parts, own)
    rows = torch.stack(parts, 1).flatten(0, 1)[: len(x)]

    shares = [None] * 2 if rank == 0 else None
    dist.gather_object(rank, shares)
    torch.save([loss, accuracy, predicted, seen, scores, rows, shares], f"{rank}.pt")
    dist.destroy_process_group()
"""


@pytest.mark.usefixtures("group")
def test_one_process_evaluates_all_samples_in_eval_mode():
    """The last batch is smaller, and dropout is off."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(11, 3)), rng.integers(3, size=11)
    dataset = TensorDataset(torch.tensor(x), torch.tensor(y))
    loss, accuracy, predicted = snippet.evaluate(nn.Dropout(0.9), dataset, "cpu", 4)
    odds = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    np.testing.assert_allclose(loss, log_loss(y, odds, labels=range(3)))
    assert accuracy == accuracy_score(y, x.argmax(1))
    assert predicted == x.argmax(1).tolist()
    assert snippet.gather_in_order(predicted).tolist() == predicted


@pytest.mark.usefixtures("group")
def test_the_answer_alone_in_bfloat16():
    """A class that no sample has; BatchNorm by its running statistics."""
    names = {}
    exec(answer("ddp-gather-metrics"), names)
    x, y = torch.eye(4)[:, :3].bfloat16(), torch.tensor([0, 1, 1, 0])
    model = nn.BatchNorm1d(3).bfloat16()
    got = names["evaluate"](model, TensorDataset(x, y), "cpu", 3)
    assert got[1:] == (0.75, [0, 1, 2, 0])
    assert model.num_batches_tracked == 0


@pytest.mark.usefixtures("group")
def test_a_label_per_pixel_is_divided_by_the_number_of_labels():
    """Pixels of -100 are in neither sum."""
    logits = torch.randn(5, 3, 2, 2, generator=torch.Generator().manual_seed(0))
    y = logits.argmax(1)
    y[0, 0] = (y[0, 0] + 1) % 3  # two are wrong
    y[1:3, 1] = -100  # four do not count
    dataset = TensorDataset(logits, y)
    loss, accuracy, _ = snippet.evaluate(nn.Identity(), dataset, "cpu", 2)
    kept = y.numpy() != -100
    rows = logits.permute(0, 2, 3, 1).numpy()[kept]
    expected = accuracy_score(y.numpy()[kept], rows.argmax(1))
    assert accuracy == pytest.approx(expected)
    odds = np.exp(rows) / np.exp(rows).sum(1, keepdims=True)
    assert loss == pytest.approx(
        log_loss(y.numpy()[kept], odds, labels=range(3)), rel=1e-5
    )


@pytest.mark.usefixtures("group")
def test_no_graph_is_kept():
    graphs = []

    class Model(nn.Linear):
        def forward(self, x):
            out = super().forward(x)
            graphs.append(out.requires_grad)
            return out

    dataset = TensorDataset(torch.arange(130.0).unsqueeze(1), torch.zeros(130).long())
    snippet.evaluate(Model(1, 2), dataset, "cpu")
    assert graphs == [False] * 3  # batches of 64, 64 and 2


def test_two_processes_with_uneven_shares(tmp_path):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(15, 3)), rng.integers(3, size=15)
    torch.save([torch.tensor(x), torch.tensor(y)], tmp_path / "data.pt")
    in_two_processes(tmp_path, DRIVER, snippet.__file__)
    odds = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    accuracy = accuracy_score(y, x.argmax(1))
    auc = roc_auc_score(y == 0, x[:, 0])
    for rank, sizes, shares in ((0, [4, 4], [0, 1]), (1, [4, 3], None)):
        loss, share, predicted, seen, scores, rows, gathered = torch.load(
            tmp_path / f"{rank}.pt"
        )
        np.testing.assert_allclose(loss, log_loss(y, odds, labels=range(3)))
        assert share == accuracy
        assert predicted.tolist() == x.argmax(1).tolist()
        assert seen == sizes  # each sample once
        np.testing.assert_allclose(scores, [accuracy, auc], rtol=1e-6)
        assert rows.numpy().tolist() == x.tolist()
        assert gathered == shares


def test_the_sampler_repeats_or_drops():
    for drop_last, each, distinct in ((False, 51, 101), (True, 50, 100)):
        shares = [
            list(DistributedSampler(range(101), 2, rank, drop_last=drop_last))
            for rank in range(2)
        ]
        assert [len(share) for share in shares] == [each, each]
        assert len(set(shares[0] + shares[1])) == distinct


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize(("layer", "sent"), [(nn.BatchNorm1d, 1), (nn.Identity, 0)])
def test_ddp_sends_buffers_in_eval_mode_too(monkeypatch, layer, sent):
    model, calls = DDP(nn.Sequential(nn.Linear(2, 2), layer(2))).eval(), []
    monkeypatch.setattr(model, "_sync_buffers", lambda: calls.append(1))
    model(torch.ones(1, 2))
    assert len(calls) == sent


@pytest.mark.usefixtures("group")
def test_all_gather_wants_equal_shapes():
    with raises_as_documented(PAGE, "RuntimeError: ProcessGroupGloo::allgather"):
        dist.all_gather([torch.zeros(2)], torch.zeros(3))
