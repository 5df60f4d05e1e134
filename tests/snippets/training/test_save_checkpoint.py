"""save-checkpoint: processes killed for real; the file read back in safe mode."""

import os
import random
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "training/save_checkpoint.py"
PAGE = "training/save-checkpoint"
snippet = load_snippet(SNIPPET)

KILLED = """
import os, pathlib, runpy, signal, sys, torch
die = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
save = runpy.run_path(sys.argv[1])["save_checkpoint"]
folder, real_save = pathlib.Path("run"), torch.save

def save_half(checkpoint, file):
    real_save(checkpoint, "all.pt")
    if hasattr(file, "write"):
        file.write(pathlib.Path("all.pt").read_bytes()[:999])
        file.flush()
    else:
        pathlib.Path(file).write_bytes(pathlib.Path("all.pt").read_bytes()[:999])
    die()

save(folder, 0, 0.5, 0.0, model=torch.nn.Linear(9, 9))
if sys.argv[2] == "writing":
    torch.save = save_half
else:
    os.fsync = pathlib.Path.replace = os.replace = die
save(folder, 1, 0.9, 0.5, model=torch.nn.Linear(9, 9))
"""


def load(path: Path) -> dict:
    return torch.load(path, weights_only=True)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Folders of two processes, killed in their second save."""
    folders = {
        moment: tmp_path_factory.mktemp("killed") for moment in ("writing", "renaming")
    }
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", KILLED, str(ROOT / "snippets" / SNIPPET), moment],
            cwd=folder,
        )
        for moment, folder in folders.items()
    ]
    assert [process.wait(60) for process in processes] == [-signal.SIGKILL] * 2
    return folders


@pytest.mark.parametrize("moment", ["writing", "renaming"])
def test_a_killed_save_leaves_the_old_file(killed, moment):
    run = killed[moment] / "run"
    assert load(run / "last.pt")["epoch"] == load(run / "best.pt")["epoch"] == 0
    assert (run / "last.pt.part").exists()
    # The leftover is in nobody's way.
    snippet.save_checkpoint(run, 1, 0.9, 0.5, model=nn.Linear(9, 9))
    assert load(run / "last.pt")["epoch"] == load(run / "best.pt")["epoch"] == 1
    assert sorted(path.name for path in run.iterdir()) == ["best.pt", "last.pt"]


def test_the_whole_file_is_on_disk_before_it_is_renamed(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(os, "fsync", lambda fd: calls.append(os.fstat(fd).st_size))
    replace = Path.replace

    def spy(source, target):
        calls.append((source.stat().st_size, source.parent == target.parent))
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", spy)
    snippet.write_whole({"w": torch.zeros(1000)}, tmp_path / "a.pt")
    size = (tmp_path / "a.pt").stat().st_size
    assert calls == [size, (size, True)]


def test_only_an_improvement_replaces_the_best(tmp_path):
    folder, best, seen = tmp_path / "new" / "run", 0.0, []
    for epoch, accuracy in enumerate([0.5, 0.5, 0.9, float("nan"), 0.7]):
        best = snippet.save_checkpoint(folder, epoch, accuracy, best)
        seen.append((best, load(folder / "best.pt")["epoch"]))
        assert load(folder / "last.pt")["epoch"] == epoch
        assert load(folder / "last.pt")["best"] == best
    assert seen == [(0.5, 0), (0.5, 0), (0.9, 2), (0.9, 2), (0.9, 2)]


@pytest.mark.parametrize("accuracy", [np.float64(0.5), np.float32(0.5), torch.ones(1)])
def test_other_numbers_become_plain_ones(tmp_path, accuracy):
    assert type(snippet.save_checkpoint(tmp_path, 0, accuracy, 0.0)) is float
    assert type(load(tmp_path / "last.pt")["best"]) is float


def test_every_part_comes_back_and_so_do_the_random_numbers(tmp_path):
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=9)
    model(torch.randn(4, 3)).square().sum().backward()
    optimizer.step()
    scheduler.step()
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    snippet.save_checkpoint(tmp_path, 0, 1.0, 0.0, **parts)
    drawn = torch.rand(5)
    checkpoint = load(tmp_path / "last.pt")
    assert checkpoint["scheduler"] == scheduler.state_dict()
    for name in ("model", "optimizer"):
        torch.testing.assert_close(
            checkpoint[name], parts[name].state_dict(), rtol=0, atol=0
        )
    torch.set_rng_state(checkpoint["rng"][0])
    assert torch.equal(torch.rand(5), drawn)
    assert len(checkpoint["rng"][1]) == torch.cuda.device_count()


def test_the_documented_errors(tmp_path, monkeypatch):
    path = tmp_path / "a.pt"
    torch.save({"best": np.mean([0.5, 1.0])}, path)
    with raises_as_documented(PAGE) as caught:
        load(path)
    assert "GLOBAL numpy._core.multiarray.scalar was not an" in str(caught.value)
    torch.save(nn.Linear(1, 1), path)
    with raises_as_documented(PAGE):
        load(path)
    path.write_bytes(path.read_bytes()[:1000])
    with raises_as_documented(PAGE):
        load(path)
    monkeypatch.chdir(tmp_path)
    with raises_as_documented(PAGE):
        torch.save({}, "checkpoints/last.pt")


def test_pth_tar_is_a_zip(tmp_path):
    torch.save({}, tmp_path / "model.pth.tar")
    assert zipfile.is_zipfile(tmp_path / "model.pth.tar")
    assert not tarfile.is_tarfile(tmp_path / "model.pth.tar")


def test_a_kept_state_dict_follows_the_model():
    model = nn.Linear(1, 1)
    best = model.state_dict()
    nn.init.constant_(model.weight, 7)
    assert best["weight"].item() == 7


def test_the_weights_alone_are_a_third(tmp_path):
    model = nn.Linear(300, 300)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 300)).sum().backward()
    optimizer.step()
    snippet.save_checkpoint(tmp_path, 0, 0.0, 0.0, model=model, optimizer=optimizer)
    torch.save(model.state_dict(), tmp_path / "weights.pt")
    sizes = [(tmp_path / name).stat().st_size for name in ("weights.pt", "last.pt")]
    assert sizes[0] / sizes[1] == pytest.approx(1 / 3, rel=0.05)


def test_how_the_other_generators_are_saved(tmp_path):
    numpy = np.random.get_state(legacy=False)
    numpy["state"]["key"] = numpy["state"]["key"].tolist()
    torch.save({"python": random.getstate(), "numpy": numpy}, tmp_path / "a.pt")
    drawn = random.random(), np.random.rand()
    states = load(tmp_path / "a.pt")
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])
    assert (random.random(), np.random.rand()) == drawn
