"""ddp-uneven-inputs: two processes with 3 and 4 batches, and one with all of them."""

import os

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from tests.helpers import assert_own_gpu, in_two_processes, load_snippet

SNIPPET = "distributed/ddp_uneven_inputs.py"
snippet = load_snippet(SNIPPET)

# `adam`, `sgd` and `zero` train in ways that the page speaks of; to go on is a
# second epoch, with as many batches in both.
DRIVER = """
import runpy, sys, torch, torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP
run = runpy.run_path(sys.argv[1])
leave, dist.destroy_process_group = dist.destroy_process_group, lambda: None
loss_fn = nn.MSELoss()

def build(kind="adam"):
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 1)).double())
    if kind == "zero":
        zero = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=0.01)
        return model, zero
    if kind == "sgd":
        return model, torch.optim.SGD(model.parameters(), lr=0.01)
    return model, torch.optim.AdamW(model.parameters(), lr=0.01)

def weights(model):
    return [p.detach().clone() for p in model.parameters()]

def epoch(model, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()

def work(rank):
    run["main"]()
    batches = torch.load("data.pt")[rank]
    result = {}
    train = run["train_one_epoch"]
    model, optimizer = build()
    train(model, batches, loss_fn, optimizer, "cpu")
    result["stopped"] = weights(model)
    train(model, batches, loss_fn, optimizer, "cpu")
    result["twice"] = weights(model)
    train(model, batches[:2], loss_fn, optimizer, "cpu")  # as many in both
    train(model, batches if rank else [], loss_fn, optimizer, "cpu")  # none in one
    result["even"] = weights(model)

    for kind in ("adam", "sgd"):
        model, optimizer = build(kind)
        with model.join():
            epoch(model, optimizer, batches)
        result[kind] = weights(model)
        epoch(model, optimizer, batches[:2])
        result[kind + " went on"] = weights(model)

    model, optimizer = build("zero")
    with Join([model, optimizer]):
        epoch(model, optimizer, batches)
    result["zero"] = weights(model)
    torch.save(result, f"{rank}.pt")
    leave()
"""


def data() -> list:
    """Three batches for rank 0, four for rank 1."""
    g = torch.Generator().manual_seed(0)
    given = {"generator": g, "dtype": torch.float64}
    return [
        [(torch.randn(4, 3, **given), torch.randn(4, 1, **given)) for _ in range(n)]
        for n in (3, 4)
    ]


def one_process(rounds: list) -> list:
    """The weights of one process, by the mean over the shares of each round."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 1)).double()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    for shares in rounds:
        optimizer.zero_grad()
        sum((net(x) - y).square().mean() / 2 for x, y in shares).backward()
        optimizer.step()
    return [p.detach().clone() for p in net.parameters()]


def close(ours, theirs) -> bool:
    return all(
        torch.allclose(a, b, rtol=1e-9) for a, b in zip(ours, theirs, strict=True)
    )


def test_all_stop_with_the_first_and_stay_equal(tmp_path):
    torch.save(data(), tmp_path / "data.pt")
    printed = in_two_processes(tmp_path, DRIVER, snippet.__file__)
    assert "rank 0: 3 batches, 3 steps\nrank 1: 4 batches, 3 steps\n" in printed
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in range(2))
    short, long = data()
    even = list(zip(short, long, strict=False))
    for own in first, second:
        assert close(own["stopped"], one_process(even))
        assert close(own["twice"], one_process(even * 2))
        assert close(own["even"], one_process([*even, *even, *even[:2]]))

    # Plain join: all batches count, but a state that has missed a step leads astray.
    everything = one_process([*even, [long[3]]])
    for own in first, second:
        assert close(own["adam"], everything)
    assert not close(first["adam went on"], second["adam went on"])
    assert close(first["sgd went on"], second["sgd went on"])

    # Join with ZeRO: some weights miss the last step.
    assert close(first["zero"], second["zero"])
    pairs = zip(first["zero"], everything, strict=True)
    same = [torch.allclose(own, full, rtol=1e-9) for own, full in pairs]
    assert any(same)
    assert not all(same)


@pytest.mark.usefixtures("own_process")
def test_one_process(monkeypatch, capsys):
    one = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    one |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    monkeypatch.setattr(os, "environ", os.environ | one)
    snippet.main()
    assert not dist.is_initialized()
    assert capsys.readouterr().out == "rank 0: 3 batches, 3 steps\n"


def test_with_gpus_each_process_takes_its_own(monkeypatch):
    assert_own_gpu(monkeypatch, snippet.main)


@pytest.mark.usefixtures("group")
def test_other_errors_are_not_swallowed():
    model = DDP(nn.Linear(2, 1))
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.ones(1, 3), torch.ones(1, 1)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        snippet.train_one_epoch(model, [batch], nn.MSELoss(), optimizer, "cpu")


@pytest.mark.usefixtures("group")
def test_after_training_only_the_ddp_model_waits(monkeypatch):
    model, x, calls = DDP(nn.Linear(2, 1)), torch.ones(1, 2), []
    optimizer = torch.optim.AdamW(model.parameters())
    batch = x, torch.ones(1, 1)
    snippet.train_one_epoch(model, [batch], nn.MSELoss(), optimizer, "cpu")
    real = dist.all_reduce
    monkeypatch.setattr(
        dist, "all_reduce", lambda *a, **k: calls.append(a) or real(*a, **k)
    )
    model.eval()
    with torch.no_grad():
        model.module(x)
        assert not calls
        model(x)
    assert calls
