"""resume-training: a run resumed by the pasted answer, against a whole run."""

import io

import numpy as np
import pytest
import torch
from torch import nn

from tests.chains.pasted import bits, save_checkpoint
from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "training/resume-training"
BOOK = recipes()
ANSWER = BOOK["resume-training"].answer


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "checkpoints"


def load(path):
    return torch.load(path, weights_only=True)


def start(epochs, code=ANSWER.text, width=3):
    """A script with the answer, started once."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, width), nn.BatchNorm1d(width))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    x, rates = torch.linspace(-1, 1, 8).view(8, 1), []

    def train_one_epoch():
        model.train()
        optimizer.zero_grad()
        (model(x) - 3 * x).square().mean().backward()
        optimizer.step()
        rates.append(optimizer.param_groups[0]["lr"])

    names = {"model": model, "optimizer": optimizer, "epochs": epochs, "rates": rates}
    annealing = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    names |= {"scheduler": annealing, "train_one_epoch": train_one_epoch}
    names |= {"start_epoch": None}
    exec(save_checkpoint(), names)
    assert set(ANSWER.yours) <= set(names)
    exec(code, names)
    return names


@pytest.mark.parametrize("stops", [[6], [2, 6], [1, 2, 3, 4, 5, 6]], ids=str)
def test_a_resumed_run_ends_with_the_same_bits(stops, folder, capsys):
    whole = start(6)
    for path in folder.iterdir():
        path.rename("whole.pt")
    capsys.readouterr()
    rates = []
    for epochs in stops:
        rates += start(epochs)["rates"]
    assert torch.equal(bits(folder / "last.pt"), bits("whole.pt"))
    assert rates == whole["rates"]
    done = [
        f"{n} of {m} epochs are done" for n, m in zip([0, *stops], stops, strict=False)
    ]
    assert capsys.readouterr().out.splitlines() == done


def test_a_finished_run_says_so(folder, capsys):
    start(2)
    before = (folder / "last.pt").read_bytes()
    capsys.readouterr()
    start(2)
    assert (folder / "last.pt").read_bytes() == before
    assert capsys.readouterr().out == "2 of 2 epochs are done\n"


def test_the_best_loss_is_carried_on(folder):
    start(2)
    torch.save({**load(folder / "last.pt"), "best_loss": 0.25}, folder / "last.pt")
    assert start(4)["best_loss"] == 0.25
    assert load(folder / "last.pt")["best_loss"] == 0.25


@pytest.mark.parametrize("entry", ["model", "optimizer", "scheduler", "epoch"])
def test_each_entry_is_needed(entry, folder):
    start(4)
    (folder / "last.pt").rename("whole.pt")
    start(2)
    checkpoint = load(folder / "last.pt")
    if entry == "model":
        checkpoint["model_state_dict"]["0.weight"].mul_(1.01)
    elif entry == "optimizer":
        checkpoint["optimizer_state_dict"]["state"] = {}
    elif entry == "scheduler":
        checkpoint["scheduler_state_dict"]["last_epoch"] = 0
    else:
        checkpoint["epoch"] -= 1
    torch.save(checkpoint, folder / "last.pt")
    start(4)
    assert not torch.equal(bits(folder / "last.pt"), bits("whole.pt"))


def test_another_model_is_refused(folder):
    start(1)
    with pytest.raises(RuntimeError, match="size mismatch"):
        start(2, width=4)


def test_the_file_is_read_on_the_cpu_and_in_safe_mode(monkeypatch):
    start(1)
    real, options = torch.load, []
    monkeypatch.setattr(
        torch, "load", lambda *a, **k: options.append(k) or real(*a, **k)
    )
    start(1)
    assert options == [{"map_location": "cpu", "weights_only": True}]


def test_the_demonstration_is_interrupted_once(folder, capsys):
    load_snippet("training/resume_training.py")
    assert capsys.readouterr().out.splitlines() == [
        "0 of 2 epochs are done",
        "2 of 4 epochs are done",
    ]
    assert load(folder / "last.pt")["epoch"] == 3
    text = (ROOT / "snippets/training/resume_training.py").read_text("utf-8")
    assert BOOK["save-checkpoint"].answer.code.partition("last = ")[0].rstrip() in text


def cuda_checkpoint(monkeypatch):
    """A file as a GPU machine writes it."""
    file = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(torch.serialization, "location_tag", lambda storage: "cuda:0")
        torch.save({"weight": torch.ones(1)}, file)
    file.seek(0)
    return file


@pytest.mark.skipif(torch.cuda.is_available(), reason="it loads here")
def test_a_file_of_a_gpu(monkeypatch):
    file = cuda_checkpoint(monkeypatch)
    with raises_as_documented(PAGE, "RuntimeError: Attempting to deserialize"):
        torch.load(file)
    file.seek(0)
    assert torch.load(file, map_location="cpu")["weight"].item() == 1


def test_the_documented_errors(tmp_path):
    with raises_as_documented(
        PAGE, "TypeError: RNG state must"
    ):  # what map_location="cuda" leads to
        torch.set_rng_state(torch.get_rng_state().to("meta"))
    model = nn.Linear(1, 8)
    frozen = torch.optim.Adam([model.weight])
    with raises_as_documented(PAGE, "ValueError: loaded state dict"):
        frozen.load_state_dict(torch.optim.Adam(model.parameters()).state_dict())
    last = tmp_path / "checkpoints" / "last.pt"
    last.parent.mkdir()
    torch.save({"best_loss": np.float64(0.5)}, last)
    with raises_as_documented(PAGE, "UnpicklingError: Weights only load"):
        start(1)
    weights = model.state_dict()
    with raises_as_documented(PAGE, "TypeError: 'collections.OrderedDict' object is"):
        weights(torch.ones(1))
    torch.save({"model": weights}, last)
    with raises_as_documented(PAGE, "KeyError: 'model_state_dict'"):
        start(1)
    optimizer = torch.optim.Adam(model.parameters())
    with raises_as_documented(PAGE, "KeyError: \"param 'initial_lr' is"):
        torch.optim.lr_scheduler.StepLR(optimizer, 1, last_epoch=3)


def test_parameters_are_matched_by_position():
    a, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([a, b], lr=0.1, momentum=0.9)
    (a + 2 * b).backward()
    optimizer.step()
    swapped = torch.optim.SGD([b, a], lr=0.1, momentum=0.9)
    swapped.load_state_dict(optimizer.state_dict())
    assert swapped.state[b]["momentum_buffer"].item() == 1
    assert swapped.state[a]["momentum_buffer"].item() == 2
