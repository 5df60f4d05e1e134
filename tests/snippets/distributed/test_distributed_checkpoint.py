"""distributed-checkpoint: from one process to two and back, against no interruption."""

from pathlib import Path

import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save

from tests.helpers import (
    assert_documented,
    in_two_processes,
    load_snippet,
)

SNIPPET = "distributed/distributed_checkpoint.py"
PAGE = "distributed/distributed-checkpoint"
snippet = load_snippet(SNIPPET)

DRIVER = """
import runpy, sys, torch, torch.distributed as dist
from pathlib import Path
train = runpy.run_path(sys.argv[1])["train"]

def work(rank):
    dist.init_process_group("gloo")
    saved, _ = train(2, "cpu", Path("two"))
    start, model = train(4, "cpu", Path("one"))  # one process began it
    weights = [p.full_tensor().detach() for p in model.parameters()]
    held = [p.to_local().numel() for p in model.parameters()]
    torch.save([saved, start, weights, held], f"{rank}.pt")
    dist.destroy_process_group()
"""


def uninterrupted(epochs: int) -> nn.Linear:
    """The same training without shards and checkpoints."""
    torch.manual_seed(0)
    model = nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(epochs):
        optimizer.zero_grad()
        model(torch.eye(8)).square().mean().backward()
        optimizer.step()
    return model


def assert_trained(weights, epochs: int) -> None:
    for own, expected in zip(weights, uninterrupted(epochs).parameters(), strict=True):
        torch.testing.assert_close(own, expected.detach())


@pytest.fixture
def saved(tmp_path, group):
    """The checkpoint of one epoch of one process."""
    snippet.train(1, "cpu", tmp_path)
    return tmp_path / "epoch-000"


@pytest.mark.usefixtures("group")
def test_from_one_process_to_two_and_back(tmp_path):
    snippet.train(3, "cpu", tmp_path / "one")
    in_two_processes(tmp_path, DRIVER, snippet.__file__)
    for rank in range(2):
        first, start, weights, held = torch.load(tmp_path / f"{rank}.pt")
        assert (first, start, held) == (0, 3, [32, 4])
        assert_trained(weights, 4)
    for folder, names in (("one", 4), ("two", 2)):
        epochs = [f"epoch-{epoch:03}" for epoch in range(names)]
        assert sorted(p.name for p in (tmp_path / folder).iterdir()) == epochs
    parts = sorted(p.name for p in (tmp_path / "two/epoch-001").iterdir())
    assert parts == [".metadata", "__0_0.distcp", "__1_0.distcp"]

    start, model = snippet.train(3, "cpu", tmp_path / "two")
    assert start == 2
    assert_trained([p.full_tensor().detach() for p in model.parameters()], 3)


@pytest.mark.usefixtures("group")
def test_a_save_that_was_interrupted_does_not_count(tmp_path):
    snippet.train(2, "cpu", tmp_path)
    (tmp_path / "epoch-001/.metadata").unlink()
    (tmp_path / "epoch-001/__0_0.distcp").unlink()
    start, model = snippet.train(3, "cpu", tmp_path)
    assert start == 1
    assert_trained([p.full_tensor().detach() for p in model.parameters()], 3)


def test_loading_fills_the_dict_and_not_the_optimizer(saved):
    model = nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    weights, optim = snippet.dcp_state.get_state_dict(model, optimizer)
    checkpoint = {"model_state_dict": weights, "optim_state_dict": optim}
    dcp.load(checkpoint, checkpoint_id=saved)
    assert optimizer.param_groups[0]["lr"] == 1e-3
    snippet.dcp_state.set_state_dict(model, optimizer, **checkpoint)
    assert optimizer.param_groups[0]["lr"] == 0.1
    assert_trained([p.detach() for p in model.parameters()], 1)


def test_the_state_is_loaded_after_a_backward_too(saved):
    """As after a first forward and backward that only tries the memory."""
    model = nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model(torch.randn(2, 8)).sum().backward()
    assert snippet.load_checkpoint(saved, model, optimizer) == 1
    model(torch.eye(8)).square().mean().backward()
    optimizer.step()
    assert_trained([p.detach() for p in model.parameters()], 2)


@pytest.mark.usefixtures("group")
def test_a_scheduler_goes_on(tmp_path):
    """Put into both functions as the page says it."""

    def built():
        model = nn.Linear(8, 8)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        return model, optimizer, scheduler

    source = Path(snippet.__file__).read_text("utf-8").partition("def train")[0]
    for line in ('checkpoint["epoch"] = epoch\n', 'checkpoint["epoch"] = 0\n'):
        added = f'{line}    checkpoint["scheduler"] = scheduler.state_dict()\n'
        assert source.count(line) == 1
        source = source.replace(line, added)
    pop = '    epoch = checkpoint.pop("epoch")\n'
    load = '    scheduler.load_state_dict(checkpoint.pop("scheduler"))\n'
    names = {}
    exec(source.replace(pop, pop + load), names)
    model, optimizer, names["scheduler"] = built()
    for _ in range(3):
        optimizer.step()
        names["scheduler"].step()
    names["save_checkpoint"](tmp_path / "new", model, optimizer, 3)
    other, optimizer, names["scheduler"] = built()
    assert names["load_checkpoint"](tmp_path / "new", other, optimizer) == 4
    assert names["scheduler"].last_epoch == 3
    assert optimizer.param_groups[0]["lr"] == 0.125
    assert torch.equal(other.weight, model.weight)


def test_one_file(saved, tmp_path):
    dcp_to_torch_save(saved, tmp_path / "model.pt")
    checkpoint = torch.load(tmp_path / "model.pt", weights_only=True)
    assert set(checkpoint) == {"model_state_dict", "optim_state_dict", "epoch"}
    model = nn.Linear(8, 8)
    model.load_state_dict(checkpoint["model_state_dict"])
    assert_trained([p.detach() for p in model.parameters()], 1)


def test_weights_alone_into_a_plain_model(saved):
    model = nn.Linear(8, 8)
    dcp.load({"model_state_dict": model.state_dict()}, checkpoint_id=saved)
    assert_trained([p.detach() for p in model.parameters()], 1)


def test_a_name_that_is_not_in_the_checkpoint(saved):
    wanted = {"model_state_dict": {"fc.weight": torch.ones(1)}}
    with pytest.raises(dcp.api.CheckpointException) as caught:  # no Exception
        dcp.load(wanted, checkpoint_id=saved)
    raised = f"CheckpointException: {caught.value}"
    assert_documented(PAGE, "CheckpointException: ", raised)
    assert not isinstance(caught.value, Exception)
    last = str(caught.value).strip().splitlines()[-1]
    assert_documented(PAGE, "RuntimeError: Missing key", last)


def test_values_that_are_kept_where_there_are_none(saved):
    wanted = {"epoch": 7, "model_state_dict": {"fc.weight": torch.ones(1)}}
    planner = dcp.DefaultLoadPlanner(allow_partial_load=True)
    dcp.load(wanted, checkpoint_id=saved, planner=planner)
    assert wanted == {"epoch": 0, "model_state_dict": {"fc.weight": torch.ones(1)}}


def test_another_shape(saved):
    wanted = {"model_state_dict": {"weight": torch.ones(8, 4)}}
    with pytest.raises(dcp.api.CheckpointException) as caught:
        dcp.load(wanted, checkpoint_id=saved)
    last = str(caught.value).strip().splitlines()[-1]
    assert_documented(PAGE, "ValueError: Size mismatch", last)


@pytest.mark.usefixtures("group")
def test_no_checkpoint_there(tmp_path):
    with pytest.raises(dcp.api.CheckpointException) as caught:
        dcp.load({"epoch": 0}, checkpoint_id=tmp_path)
    last = str(caught.value).strip().splitlines()[-1]
    assert_documented(PAGE, "AssertionError: metadata is None", last)


def test_a_folder_that_is_used_again(saved):
    with pytest.warns(UserWarning, match="Detected an existing") as caught:
        dcp.save({"epoch": 0}, checkpoint_id=saved)
    assert_documented(
        PAGE, "UserWarning: Detected", f"UserWarning: {caught[0].message}"
    )
