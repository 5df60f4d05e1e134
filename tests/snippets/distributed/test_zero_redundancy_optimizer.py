"""zero-redundancy-optimizer: two processes with a part of the state each, and one."""

import os

import pytest
import torch
import torch.distributed as dist
from torch import nn

from tests.helpers import (
    assert_own_gpu,
    in_two_processes,
    load_snippet,
    raises_as_documented,
)

SNIPPET = "distributed/zero_redundancy_optimizer.py"
PAGE = "distributed/zero-redundancy-optimizer"
snippet = load_snippet(SNIPPET)

DRIVER = """
import runpy, sys, torch, torch.distributed as dist
from torch import nn
run = runpy.run_path(sys.argv[1])
leave, dist.destroy_process_group = dist.destroy_process_group, lambda: None
loss_fn = nn.MSELoss()

def build():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 1)).double()
    return run["DDP"](net)

def weights(model):
    return [p.detach().clone() for p in model.parameters()]

def zero(model):
    return run["ZeRO"](model.parameters(), torch.optim.AdamW, lr=0.01)

def work(rank):
    run["main"]()
    batches = torch.load("data.pt")[rank]
    result = {}

    model = build()
    optimizer = zero(model)
    run["train"](model, batches, loss_fn, optimizer, "cpu")
    result["weights"] = weights(model)
    result["own"] = [tuple(p.shape) for p in optimizer.optim.state]
    optimizer.consolidate_state_dict(to=0)
    if rank == 0:
        torch.save(optimizer.state_dict(), "zero.pt")
    dist.barrier()

    again = zero(model)
    again.load_state_dict(torch.load("zero.pt", weights_only=True))
    run["train"](model, batches, loss_fn, again, "cpu")
    result["resumed"] = weights(model)

    torch.save(result, f"{rank}.pt")
    leave()
"""


def data() -> list:
    """Three batches for each rank."""
    g = torch.Generator().manual_seed(0)
    given = {"generator": g, "dtype": torch.float64}
    return [
        [(torch.randn(4, 3, **given), torch.randn(4, 1, **given)) for _ in range(n)]
        for n in (3, 3)
    ]


def one_process(rounds: list):
    """A plain AdamW in one process, by the mean over two shares: weights and state."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 1)).double()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    for shares in rounds:
        optimizer.zero_grad()
        sum((net(x) - y).square().mean() / 2 for x, y in shares).backward()
        optimizer.step()
    return [p.detach().clone() for p in net.parameters()], optimizer


def close(ours, theirs) -> bool:
    return all(
        torch.allclose(a, b, rtol=1e-9) for a, b in zip(ours, theirs, strict=True)
    )


def test_two_processes_train_as_one(tmp_path):
    torch.save(data(), tmp_path / "data.pt")
    printed = in_two_processes(tmp_path, DRIVER, snippet.__file__)
    assert "rank 0 keeps the state of 2 of 4 tensors\n" in printed
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in range(2))
    even = list(zip(*data(), strict=True))

    # The parameters and the state of a plain AdamW.
    expected, plain = one_process(even)
    assert close(first["weights"], expected)
    assert close(second["weights"], expected)
    state = torch.load(tmp_path / "zero.pt", weights_only=True)
    assert state["param_groups"] == plain.state_dict()["param_groups"]
    for index, moments in plain.state_dict()["state"].items():
        assert close(moments.values(), state["state"][index].values())
    plain.load_state_dict(state)

    # Each parameter has its state in one of the two, whole.
    shapes = [tuple(p.shape) for p in expected]
    assert sorted(first["own"] + second["own"]) == sorted(shapes)
    assert first["own"] == [(5, 3)]

    resumed, _ = one_process(even * 2)
    assert close(first["resumed"], resumed)
    assert close(second["resumed"], resumed)


@pytest.mark.usefixtures("own_process")
def test_one_process(monkeypatch, tmp_path, capsys):
    one = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    one |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    monkeypatch.setattr(os, "environ", os.environ | one)
    monkeypatch.chdir(tmp_path)
    snippet.main()
    assert not dist.is_initialized()
    assert capsys.readouterr().out == "rank 0 keeps the state of 4 of 4 tensors\n"
    state = torch.load("optimizer.pt", weights_only=True)
    assert [float(s["step"]) for s in state["state"].values()] == [3.0] * 4
    assert state["param_groups"][0]["lr"] == 0.01


def test_with_gpus_each_process_takes_its_own(monkeypatch):
    assert_own_gpu(monkeypatch, snippet.main)


@pytest.mark.usefixtures("group")
def test_state_that_is_not_gathered():
    model = nn.Linear(2, 1)
    optimizer = snippet.ZeRO(model.parameters(), torch.optim.AdamW, lr=0.01)
    with raises_as_documented(PAGE, "RuntimeError: Optimizer state has not been"):
        optimizer.state_dict()


@pytest.mark.usefixtures("group")
def test_parameters_of_two_dtypes():
    mixed = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).bfloat16())
    with raises_as_documented(PAGE, "ValueError: ZeroRedundancyOptimizer only"):
        snippet.ZeRO(mixed.parameters(), torch.optim.AdamW, lr=0.01)
