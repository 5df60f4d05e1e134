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

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "training/save_checkpoint.py"
PAGE = "training/save-checkpoint"
STATES = ["torch_rng_state", "loader_rng_state", "cuda_rng_state"]

KILLED = """
import os, pathlib, runpy, signal, sys, torch
die = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
real_save = torch.save

def save_half(checkpoint, path):
    real_save(checkpoint, "whole")
    pathlib.Path(path).write_bytes(pathlib.Path("whole").read_bytes()[:999])
    die()

torch.manual_seed(1)
runpy.run_path(sys.argv[1])
if sys.argv[2] == "writing":
    torch.save = save_half
else:
    pathlib.Path.replace = os.replace = os.rename = die
torch.manual_seed(2)
runpy.run_path(sys.argv[1])
"""


def load(path: Path) -> dict:
    return torch.load(path, weights_only=True)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the snippet in an empty folder; the file is checkpoints/last.pt."""
    monkeypatch.chdir(tmp_path)

    def run(seed=7):
        torch.manual_seed(seed)
        return load_snippet(SNIPPET), load(tmp_path / "checkpoints" / "last.pt")

    return run


def test_the_file_holds_every_state(run):
    snippet, checkpoint = run()
    torch.manual_seed(7)
    model = nn.Linear(1, 1)  # with the numbers that the snippet drew
    parts = {"model": snippet.model, "optimizer": snippet.optimizer}
    for name, part in parts.items():
        saved = checkpoint.pop(f"{name}_state_dict")
        torch.testing.assert_close(saved, part.state_dict(), rtol=0, atol=0)
    assert torch.equal(snippet.model.weight, model.weight)
    assert checkpoint.pop("scheduler_state_dict") == snippet.scheduler.state_dict()
    assert torch.equal(checkpoint["torch_rng_state"], torch.get_rng_state())
    assert torch.equal(checkpoint["loader_rng_state"], torch.Generator().get_state())
    assert len(checkpoint["cuda_rng_state"]) == torch.cuda.device_count()
    for name in STATES:
        checkpoint.pop(name)
    assert checkpoint == {"epoch": 0, "best_score": float("-inf")}


def test_a_second_run_replaces_the_file_and_leaves_nothing_else(run, tmp_path):
    _, first = run(seed=1)
    _, second = run(seed=2)
    assert not torch.equal(first["torch_rng_state"], second["torch_rng_state"])
    found = [path.relative_to(tmp_path) for path in tmp_path.rglob("*.*")]
    assert found == [Path("checkpoints/last.pt")]


def test_a_folder_in_a_folder_is_made(tmp_path):
    source = (ROOT / "snippets" / SNIPPET).read_text(encoding="utf-8")
    _, make, write = source.partition("folder.mkdir")
    names = {"torch": torch, "folder": tmp_path / "runs" / "1", "checkpoint": {1: 2}}
    exec(make + write.partition("print")[0], names)
    assert load(tmp_path / "runs" / "1" / "last.pt") == {1: 2}


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
def test_a_killed_save_leaves_the_old_file(killed, moment, monkeypatch):
    folder = killed[moment] / "checkpoints"
    torch.manual_seed(1)
    weight = nn.Linear(1, 1).weight.detach()
    assert torch.equal(load(folder / "last.pt")["model_state_dict"]["weight"], weight)
    assert (folder / "last.tmp").exists()
    # The leftover is in nobody's way.
    monkeypatch.chdir(killed[moment])
    torch.manual_seed(3)
    load_snippet(SNIPPET)
    assert [path.name for path in folder.iterdir()] == ["last.pt"]
    assert not torch.equal(
        load(folder / "last.pt")["model_state_dict"]["weight"], weight
    )


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_line_of_the_page_forces_the_file_to_disk(lang, tmp_path, monkeypatch):
    page = (ROOT / f"docs/{lang}/{PAGE}.md").read_text(encoding="utf-8")
    (line,) = [part for part in page.split("`") if part.startswith("with open(")]
    forced = []
    monkeypatch.setattr(os, "fsync", lambda fd: forced.append(os.fstat(fd).st_size))
    torch.save({}, tmp_path / "last.tmp")
    exec(" ".join(line.split()), {"folder": tmp_path, "os": os, "open": open})
    assert forced == [(tmp_path / "last.tmp").stat().st_size]


def test_what_does_not_load(tmp_path, monkeypatch):
    path = tmp_path / "a.pt"
    for value in (np.mean([0.5, 1.0]), np.zeros(2), path, Namespace(lr=1), nn.ReLU()):
        torch.save({"value": value}, path)
        with raises_as_documented(PAGE, "UnpicklingError: Weights only load"):
            load(path)
    torch.save({"best_score": np.mean([0.5, 1.0])}, path)
    with raises_as_documented(PAGE, "UnpicklingError: Weights only load") as caught:
        load(path)
    assert "GLOBAL numpy._core.multiarray.scalar was not an" in str(caught.value)
    assert torch.load(path, weights_only=False)["best_score"] == 0.75


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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk():
    with raises_as_documented(PAGE, "RuntimeError: [enforce fail at"):
        torch.save({"weight": torch.zeros(100_000)}, "/dev/full")


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
