"""save-best-model: which epoch is kept, through ties, NaN and a second run."""

import copy
import math
import shutil

import numpy as np
import pytest
import torch
from torch import nn

from tests.chains.pasted import save_checkpoint
from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "training/save-best-model"
BOOK = recipes()
ANSWER = BOOK["save-best-model"].answer


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "checkpoints"


def load(path):
    return torch.load(path, weights_only=True)


def run(losses, **changes):
    """The two answers pasted; the weight is the number of the epoch."""
    model = nn.Linear(1, 1)
    nn.init.constant_(model.weight, -1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)

    def train_one_epoch():
        optimizer.step()
        model.weight.data += 1

    names = {"model": model, "optimizer": optimizer, "epochs": len(losses)}
    names |= {"scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 2)}
    names |= {"train_one_epoch": train_one_epoch, "evaluate": iter(losses).__next__}
    exec(save_checkpoint(), names)
    assert set(ANSWER.yours) <= set(names)
    exec(ANSWER.text, names | changes)
    return model.weight.item()


def kept(folder):
    """The epoch and the best loss of best.pt and of last.pt."""
    names = sorted(path.name for path in folder.iterdir())
    return [(name, *list(load(folder / name).values())[:2]) for name in names]


@pytest.mark.parametrize(
    ("losses", "epoch", "best"),
    [
        ([0.5], 0, 0.5),
        ([0.5, 0.5, 0.6], 0, 0.5),  # the older of two that are equal
        ([0.5, 0.2, 0.7], 1, 0.2),
        ([-0.7, -0.9, -0.2], 1, -0.9),  # accuracies with a minus
        ([0.5, math.nan, 0.6], 0, 0.5),
        ([math.nan, 0.4], 1, 0.4),
        ([np.float64(0.5), np.float32(0.25)], 1, 0.25),
        ([torch.tensor(0.5), torch.tensor(0.75)], 0, 0.5),
    ],
    ids=str,
)
def test_the_best_epoch_is_kept_and_loaded(folder, losses, epoch, best):
    assert run(losses) == epoch
    last = len(losses) - 1
    assert kept(folder) == [("best.pt", epoch, best), ("last.pt", last, best)]


def test_without_a_best_loss_there_is_no_best_file(folder):
    with raises_as_documented(PAGE, "FileNotFoundError: [Errno 2] No such"):
        run([math.nan])
    assert kept(folder) == [("last.pt", 0, math.inf)]


def test_a_new_run_in_an_old_folder_keeps_its_own_best(folder):
    run([0.1, 0.2])
    assert run([0.9, 0.8, 0.85]) == 1
    assert kept(folder) == [("best.pt", 1, 0.8), ("last.pt", 2, 0.8)]


def test_the_learning_rate_is_in_the_file(folder):
    run([0.5, 0.4, 0.3])
    (group,) = load(folder / "last.pt")["optimizer_state_dict"]["param_groups"]
    assert group["lr"] == pytest.approx(0.01)


@pytest.mark.parametrize("step", ["scheduler.step(val_loss)", ""])
def test_on_a_plateau_and_without_a_scheduler(folder, monkeypatch, step):
    code = ANSWER.text.replace("    scheduler.step()", f"    {step}")
    save = save_checkpoint()
    if not step:
        code, save = (
            code.replace(", scheduler)", ")"),
            save.replace(", scheduler)", ")"),
        )
        save = "\n".join(line for line in save.split("\n") if "scheduler" not in line)
        assert "scheduler" not in code + save
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    names = {"model": model, "optimizer": optimizer, "epochs": 4}
    names |= {"train_one_epoch": optimizer.step}
    names |= {"evaluate": iter([0.5, 0.4, 0.6, 0.7]).__next__}
    if step:
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau
        names["scheduler"] = plateau(optimizer, factor=0.5, patience=1)
    exec(save, names)
    exec(code, names)
    assert kept(folder) == [("best.pt", 1, 0.4), ("last.pt", 3, 0.4)]
    assert optimizer.param_groups[0]["lr"] == (0.05 if step else 0.1)


def test_the_function_is_that_of_the_page_it_comes_from():
    text = (ROOT / "snippets/training/save_best_model.py").read_text("utf-8")
    assert BOOK["save-checkpoint"].answer.code.partition("last = ")[0].rstrip() in text


def test_the_demonstration_overfits_and_keeps_the_best(folder, capsys):
    snippet = load_snippet("training/save_best_model.py")
    best, last = load(folder / "best.pt"), load(folder / "last.pt")
    assert best["epoch"] < last["epoch"] == 39
    assert snippet.evaluate() == best["best_loss"] < snippet.val_loss - 0.1
    assert f"{best['best_loss']:.2f}" in capsys.readouterr().out


def test_the_copy_with_swapped_names(tmp_path):
    (tmp_path / "best.pt").write_text("old")
    (tmp_path / "last.pt").write_text("new")
    shutil.copyfile("best.pt", "last.pt")
    assert (tmp_path / "last.pt").read_text() == "old"
    with raises_as_documented(PAGE, "SameFileError: 'best.pt' and 'best.pt'"):
        shutil.copyfile("best.pt", "best.pt")


def test_best_weights_in_memory_need_a_deep_copy():
    model = nn.Linear(1, 1)
    alias, shallow = model.state_dict(), dict(model.state_dict())
    deep = copy.deepcopy(model.state_dict())
    weight = deep["weight"].item()
    nn.init.constant_(model.weight, 7)
    assert alias["weight"].item() == shallow["weight"].item() == 7
    assert deep["weight"].item() == weight
