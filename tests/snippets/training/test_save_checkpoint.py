"""save-checkpoint: what the file holds; processes killed for real while saving."""

import os
import random
import signal
import subprocess
import sys
import tarfile
import zipfile
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

SNIPPET = "training/save_checkpoint.py"
PAGE = "training/save-checkpoint"
ANSWER = recipes()["save-checkpoint"].answer
save_checkpoint = load_snippet(SNIPPET).save_checkpoint

KILLED = """
import os, pathlib, runpy, signal, sys, torch
die = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
real_save = torch.save

def save_half(checkpoint, path):
    real_save(checkpoint, "whole")
    pathlib.Path(path).write_bytes(pathlib.Path("whole").read_bytes()[:999])
    die()

torch.manual_seed(1)
runpy.run_path(sys.argv[1], run_name="__main__")
if sys.argv[2] == "writing":
    torch.save = save_half
else:
    pathlib.Path.replace = os.replace = os.rename = die
torch.manual_seed(2)
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def load(path: Path) -> dict:
    return torch.load(path, weights_only=True)


def parts():
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    model(torch.randn(4, 2)).sum().backward()
    optimizer.step()
    scheduler.step()
    return model, optimizer, scheduler


def test_the_file_holds_every_state(tmp_path, monkeypatch):
    """The answer as it is pasted; the folder is new, and in a new folder."""
    monkeypatch.chdir(tmp_path)
    run = dict(zip(["model", "optimizer", "scheduler"], parts(), strict=True))
    names = {**run, "best_loss": 0.25}
    assert set(ANSWER.yours) == set(names)
    exec(ANSWER.text, names)
    last = Path("checkpoints/last.pt")
    assert load(last)["epoch"] == 2  # the last of three
    assert list(last.parent.iterdir()) == [last]
    path = tmp_path / "runs" / "1" / "last.pt"
    names["save_checkpoint"](path, 7, 0.25, **run)
    saved = load(path)
    assert (saved.pop("epoch"), saved.pop("best_loss")) == (7, 0.25)
    for key, part in run.items():
        state = saved.pop(f"{key}_state_dict")
        torch.testing.assert_close(state, part.state_dict(), rtol=0, atol=0)
    assert saved == {}
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "loss", [np.float32(0.5), np.float64(0.5), torch.tensor(0.5), float("inf")]
)
def test_any_number_becomes_one_that_loads(tmp_path, loss):
    save_checkpoint(tmp_path / "last.pt", 0, loss, *parts())
    assert load(tmp_path / "last.pt")["best_loss"] == float(loss)


def test_a_path_may_be_a_string(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_checkpoint("runs/last.pt", 3, 0.5, *parts())
    assert load(tmp_path / "runs" / "last.pt")["epoch"] == 3
    assert [path.name for path in Path("runs").iterdir()] == ["last.pt"]


def test_two_names_in_one_folder_do_not_meet(tmp_path):
    for epoch, name in enumerate(["best.pt", "last.pt", "last.pt"]):
        save_checkpoint(tmp_path / name, epoch, 0.0, *parts())
    assert [load(tmp_path / f"{n}.pt")["epoch"] for n in ("best", "last")] == [0, 2]
    assert len(list(tmp_path.iterdir())) == 2


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
            stdout=subprocess.DEVNULL,
        )
        for moment, folder in folders.items()
    ]
    codes = [process.wait(300) for process in processes]
    assert codes == [-signal.SIGKILL] * 2
    return folders


@pytest.mark.parametrize("moment", ["writing", "renaming"])
def test_a_killed_save_leaves_the_old_file(killed, moment):
    folder = killed[moment] / "checkpoints"
    torch.manual_seed(1)
    weight = nn.Linear(1, 1).weight.detach()
    assert torch.equal(load(folder / "last.pt")["model_state_dict"]["weight"], weight)
    assert (folder / "last.tmp").exists()
    # The leftover is in nobody's way.
    save_checkpoint(folder / "last.pt", 0, 0.5, *parts())
    assert [path.name for path in folder.iterdir()] == ["last.pt"]
    assert load(folder / "last.pt")["epoch"] == 0


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_line_of_the_page_forces_the_file_to_disk(lang, tmp_path, monkeypatch):
    page = (ROOT / f"docs/{lang}/{PAGE}.md").read_text(encoding="utf-8")
    (line,) = [part for part in page.split("`") if part.startswith("with open(")]
    forced = []
    monkeypatch.setattr(os, "fsync", lambda fd: forced.append(os.fstat(fd).st_size))
    torch.save({}, tmp_path / "last.tmp")
    exec(" ".join(line.split()), {"path": tmp_path / "last.pt", "os": os})
    assert forced == [(tmp_path / "last.tmp").stat().st_size]


def test_what_does_not_load(tmp_path, monkeypatch):
    path = tmp_path / "a.pt"
    for value in (np.mean([0.5, 1.0]), np.zeros(2), path, Namespace(lr=1), nn.ReLU()):
        torch.save({"value": value}, path)
        with raises_as_documented(PAGE, "UnpicklingError: Weights only load"):
            load(path)
    torch.save({"best_loss": np.mean([0.5, 1.0])}, path)
    with raises_as_documented(PAGE, "UnpicklingError: Weights only load") as caught:
        load(path)
    assert "GLOBAL numpy._core.multiarray.scalar was not an" in str(caught.value)
    assert torch.load(path, weights_only=False)["best_loss"] == 0.75


def test_the_files_that_are_no_checkpoints(tmp_path, monkeypatch):
    path = tmp_path / "a.pt"
    torch.save({"weight": torch.zeros(1000)}, path)
    path.write_bytes(path.read_bytes()[:1000])
    with raises_as_documented(PAGE, "RuntimeError: PytorchStreamReader failed reading"):
        load(path)
    endings = {"version https://git-lfs.github.com/spec/v1\n": 118, "<html>": 60}
    for text, number in endings.items():
        path.write_text(text)
        with raises_as_documented(PAGE, "UnpicklingError: Weights only load") as caught:
            load(path)
        assert f"Unsupported operand {number}\n" in str(caught.value)
    path.write_text("")
    with raises_as_documented(PAGE, "EOFError: Ran out of"):
        torch.load(path, weights_only=False)
    monkeypatch.chdir(tmp_path)
    with raises_as_documented(PAGE, "RuntimeError: Parent directory checkpoints"):
        torch.save({}, "checkpoints/last.pt")
    with pytest.raises(FileNotFoundError, match=r"\[Errno 2\] No such file or dir"):
        torch.save({}, "checkpoints/last.pt", _use_new_zipfile_serialization=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk():
    with raises_as_documented(PAGE, "RuntimeError: [enforce fail at"):
        torch.save({"weight": torch.zeros(100_000)}, "/dev/full")


def test_a_folder_is_no_file(tmp_path):
    with raises_as_documented(PAGE, "RuntimeError: [enforce fail at") as caught:
        torch.save({}, tmp_path)
    assert "open file failed with strerror" in str(caught.value)


def test_a_pickled_model_needs_its_class(tmp_path, monkeypatch):
    script = ModuleType("__main__")
    exec("from torch import nn\nclass Net(nn.Linear): pass", script.__dict__)
    monkeypatch.setitem(sys.modules, "__main__", script)
    torch.save(script.Net(1, 1), tmp_path / "net.pt")
    assert type(torch.load(tmp_path / "net.pt", weights_only=False)) is script.Net
    del script.Net
    with raises_as_documented(PAGE, "AttributeError: Can't get attribute"):
        torch.load(tmp_path / "net.pt", weights_only=False)


def test_pth_tar_is_a_zip(tmp_path):
    torch.save({}, tmp_path / "model.pth.tar")
    assert zipfile.is_zipfile(tmp_path / "model.pth.tar")
    assert not tarfile.is_tarfile(tmp_path / "model.pth.tar")


def test_the_weights_alone_are_a_third(tmp_path):
    model = nn.Linear(300, 300)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 300)).sum().backward()
    optimizer.step()
    both = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(both, tmp_path / "last.pt")
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
