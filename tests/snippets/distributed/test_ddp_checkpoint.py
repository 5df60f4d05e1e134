"""ddp-checkpoint: two processes that stop and go on, against one that does not stop."""

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from tests.chains.pasted import answer
from tests.helpers import in_two_processes, load_snippet, raises_as_documented

SNIPPET = "distributed/ddp_checkpoint.py"
PAGE = "distributed/ddp-checkpoint"
snippet = load_snippet(SNIPPET)

# Rank 0 writes slowly: without the barrier, rank 1 would be at the next read by then.
DRIVER = """
import runpy, sys, time, torch, torch.distributed as dist
from datetime import timedelta
train = runpy.run_path(sys.argv[1])["train"]
save, load, wrote, read = torch.save, torch.load, [], []

def slowly(what, path):
    time.sleep(0.5)
    wrote.append(what["epoch"])
    save(what, path)

def noted(path, **given):
    read.append(given)
    return load(path, **given)

torch.save, torch.load = slowly, noted

def work(rank):
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    torch.manual_seed(rank)  # the weights of rank 0 count
    train(2, "cpu")
    train(4, "cpu")
    save([wrote, read], f"{rank}.pt")
    dist.destroy_process_group()
"""


def one_process(epochs: int) -> nn.Linear:
    """All the data in one process, without a stop."""
    torch.manual_seed(0)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    x = torch.linspace(-1, 1, 64).unsqueeze(1)
    for _ in range(epochs):
        optimizer.zero_grad()
        (model(x) - 3 * x).square().mean().backward()
        optimizer.step()
    return model


@pytest.mark.usefixtures("group")
def test_one_process_stops_and_goes_on(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    snippet.train(2, "cpu")
    snippet.train(4, "cpu")
    snippet.train(4, "cpu")  # nothing is left to do
    printed = [f"epochs {epochs}" for epochs in ("0 to 1", "2 to 3", "4 to 3")]
    assert capsys.readouterr().out.splitlines() == printed
    (file,) = Path("checkpoints").iterdir()
    assert file.name == "last.pt"
    checkpoint = torch.load(file, weights_only=True)
    assert set(checkpoint) == {"epoch", "model_state_dict", "optimizer_state_dict"}
    assert checkpoint["epoch"] == 3
    expected = one_process(4).state_dict()
    torch.testing.assert_close(checkpoint["model_state_dict"], dict(expected))


def test_two_processes(tmp_path):
    """Only rank 0 writes, both read, and the result is that of one process."""
    in_two_processes(tmp_path, DRIVER, snippet.__file__)
    options = {"map_location": "cpu", "weights_only": True}
    ranks = [torch.load(tmp_path / f"{rank}.pt") for rank in range(2)]
    assert ranks == [[[0, 1, 2, 3], [options]], [[], [options]]]
    checkpoint = torch.load(tmp_path / "checkpoints/last.pt", weights_only=True)
    expected = one_process(4).state_dict()
    torch.testing.assert_close(checkpoint["model_state_dict"], dict(expected))


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("kind", [str, Path])
def test_the_answer_alone(kind, tmp_path):
    """Weights and state are those saved, in bfloat16 too; a first run begins at 0."""
    names, last = {}, kind(tmp_path / "runs/a/last.pt")
    exec(answer("ddp-checkpoint"), names)
    model = DDP(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).bfloat16())
    optimizer = torch.optim.AdamW(model.parameters())
    assert names["load_checkpoint"](last, model, optimizer) == 0
    model(torch.randn(4, 2, dtype=torch.bfloat16)).sum().backward()
    optimizer.step()
    names["save_checkpoint"](last, model, optimizer, 6)

    other = DDP(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).bfloat16())
    again = torch.optim.AdamW(other.parameters())
    assert names["load_checkpoint"](last, other, again) == 7
    same = {"rtol": 0, "atol": 0}
    torch.testing.assert_close(other.state_dict(), model.state_dict(), **same)
    moments = again.state_dict()["state"]
    torch.testing.assert_close(moments, optimizer.state_dict()["state"], **same)


@pytest.mark.usefixtures("group")
def test_killed_while_saving_the_last_file_is_whole(monkeypatch, tmp_path):
    last, model = tmp_path / "last.pt", DDP(nn.Linear(1, 1))
    optimizer = torch.optim.Adam(model.parameters())
    snippet.save_checkpoint(last, model, optimizer, 0)

    def killed(checkpoint, path):
        Path(path).write_bytes(b"half a file")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            snippet.save_checkpoint(last, model, optimizer, 1)
    assert snippet.load_checkpoint(last, model, optimizer) == 1


def test_the_optimizer_state_follows_its_parameters():
    """So a file that was read on the CPU serves a model on a GPU."""
    saved = one_process(1)
    optimizer = torch.optim.Adam(saved.parameters())
    saved(torch.ones(1, 1)).sum().backward()
    optimizer.step()
    other = torch.optim.Adam(nn.Linear(1, 1, device="meta").parameters())
    other.load_state_dict(optimizer.state_dict())
    moments = [state["exp_avg"].device.type for state in other.state.values()]
    assert moments == ["meta", "meta"]


@pytest.mark.usefixtures("group")
def test_plain_names_do_not_fit_the_wrapper():
    model, saved = DDP(nn.Linear(2, 2)), nn.Linear(2, 2).state_dict()
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading") as caught:
        model.load_state_dict(saved)
    assert 'Missing key(s) in state_dict: "module.weight"' in str(caught.value)
    model.module.load_state_dict(saved)


@pytest.mark.usefixtures("group")
def test_names_of_a_compiled_model(tmp_path):
    """Nothing is compiled before the first call."""
    inside = DDP(torch.compile(nn.Linear(2, 2)))
    outside = torch.compile(DDP(nn.Linear(2, 2)))
    for model, names in (
        (inside, ["_orig_mod.weight", "_orig_mod.bias"]),
        (outside, ["weight", "bias"]),
    ):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        snippet.save_checkpoint(tmp_path / "last.pt", model, optimizer, 0)
        saved = torch.load(tmp_path / "last.pt", weights_only=True)
        assert list(saved["model_state_dict"]) == names
        assert snippet.load_checkpoint(tmp_path / "last.pt", model, optimizer) == 1


def test_a_file_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with raises_as_documented(PAGE, "FileNotFoundError: "):
        torch.load("checkpoints/last.pt")
