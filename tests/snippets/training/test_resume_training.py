"""resume-training: a killed process, resumed by another, against a whole run."""

import io
import math
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "training/resume_training.py"
PAGE = "training/resume-training"
snippet = load_snippet(SNIPPET)

KILLED = """
import os, runpy, signal, sys, pathlib, torch
run = runpy.run_path(sys.argv[1])
real_save = run["save"]

def save(path, epoch, **parts):
    real_save(path, epoch, **parts)
    if epoch == 3:
        os.kill(os.getpid(), signal.SIGKILL)

run["train"].__globals__["save"] = save
torch.manual_seed(5)
run["train"](pathlib.Path(sys.argv[2]), 6)
"""


@pytest.fixture
def whole(tmp_path):
    """The weights after six epochs without interruption."""
    torch.manual_seed(5)
    return snippet.train(tmp_path / "whole.pt", 6)


@pytest.fixture
def half(tmp_path):
    """The path of a checkpoint after four of six epochs."""
    torch.manual_seed(5)
    snippet.train(tmp_path / "half.pt", 4)
    torch.manual_seed(99)
    return tmp_path / "half.pt"


def test_another_process_finishes_a_killed_run_bit_by_bit(tmp_path, whole):
    path = tmp_path / "killed.pt"
    command = [
        sys.executable,
        "-c",
        KILLED,
        str(ROOT / "snippets" / SNIPPET),
        str(path),
    ]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert torch.equal(snippet.train(path, 6), whole)


def test_interrupted_after_every_epoch(tmp_path, whole):
    torch.manual_seed(5)
    for stop in range(1, 7):
        weights = snippet.train(tmp_path / "often.pt", stop)
        torch.manual_seed(stop)
    assert torch.equal(weights, whole)


def test_a_finished_run_does_nothing(half):
    weights = snippet.train(half, 4)
    saved = torch.load(half, weights_only=True)["model"].values()
    assert torch.equal(weights, torch.cat([value.flatten() for value in saved]))


def forget(checkpoint: dict, entry: str) -> None:
    """Undo one entry, to what a program that ignores it would start with."""
    if entry == "model":
        checkpoint["model"]["0.weight"].mul_(1.01)
    elif entry == "optimizer":
        checkpoint["optimizer"]["state"] = {}
    elif entry == "learning rate":
        checkpoint["optimizer"]["param_groups"][0]["lr"] = 0.1
    elif entry == "scheduler":
        checkpoint["scheduler"]["last_epoch"] = 0
    elif entry == "rng":
        checkpoint["rng"] = (torch.Generator().get_state(), [])
    elif entry == "epoch":
        checkpoint["epoch"] -= 1


@pytest.mark.parametrize(
    "entry", ["model", "optimizer", "learning rate", "scheduler", "rng", "epoch"]
)
def test_each_entry_is_needed(half, whole, entry):
    checkpoint = torch.load(half, weights_only=True)
    forget(checkpoint, entry)
    torch.save(checkpoint, half)
    assert not torch.equal(snippet.train(half, 6), whole)


def test_it_loads_into_the_objects_it_is_given(half):
    net = nn.Sequential(nn.Linear(1, 8), nn.Dropout(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=5.0)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=9)
    pointers = [parameter.data_ptr() for parameter in net.parameters()]
    parts = {"model": net, "optimizer": optimizer, "scheduler": scheduler}
    assert snippet.resume(half, **parts) == 4
    assert [parameter.data_ptr() for parameter in net.parameters()] == pointers
    # The file's learning rate wins: 0.1 * (1 + cos(4/9 pi)) / 2.
    assert optimizer.param_groups[0]["lr"] == pytest.approx(
        0.05 * (1 + math.cos(4 / 9 * math.pi))
    )
    assert scheduler.last_epoch == 4
    assert len(optimizer.state) == 4


def cuda_checkpoint(monkeypatch) -> io.BytesIO:
    """A file as a GPU machine writes it."""
    file = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(torch.serialization, "location_tag", lambda storage: "cuda:0")
        torch.save({"weight": torch.ones(1)}, file)
    file.seek(0)
    return file


def test_the_documented_errors(tmp_path, half, monkeypatch):
    if not torch.cuda.is_available():
        file = cuda_checkpoint(monkeypatch)
        with raises_as_documented(PAGE):
            torch.load(file)
        file.seek(0)
        assert torch.load(file, map_location="cpu")["weight"].item() == 1
    with raises_as_documented(PAGE):  # what map_location="cuda" leads to
        torch.set_rng_state(torch.get_rng_state().to("meta"))
    net = nn.Linear(1, 8)
    frozen = torch.optim.Adam([net.weight])
    with raises_as_documented(PAGE):
        frozen.load_state_dict(torch.optim.Adam(net.parameters()).state_dict())
    torch.save({"best": np.float64(0.5)}, tmp_path / "numpy.pt")
    with raises_as_documented(PAGE):
        snippet.resume(tmp_path / "numpy.pt")
    with raises_as_documented(PAGE):
        torch.load(half)["model"](torch.ones(1))


def test_a_missing_part_is_an_error(half):
    with pytest.raises(KeyError, match="ema"):
        snippet.resume(half, ema=nn.Linear(1, 1))


def test_last_epoch_wants_an_optimizer_that_a_scheduler_has_seen():
    optimizer = torch.optim.Adam(nn.Linear(1, 1).parameters())
    with raises_as_documented(PAGE):
        torch.optim.lr_scheduler.StepLR(optimizer, 1, last_epoch=3)


def test_a_checkpoint_of_more_gpus_than_there_are(half):
    checkpoint = torch.load(half, weights_only=True)
    states = [torch.get_rng_state()] * 3
    torch.save({**checkpoint, "rng": (checkpoint["rng"][0], states)}, half)
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "device_count", lambda: 2)
        patch.setattr(torch.cuda, "set_rng_state_all", seen.extend)
        assert snippet.resume(half) == 4
    assert len(seen) == 2
