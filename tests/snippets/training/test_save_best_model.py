"""save-best-model: which epoch is kept, through ties, NaN, kills and restarts."""

import copy
import math
import shutil

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("training/save_best_model.py")
PAGE = "training/save-best-model"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "runs" / "checkpoints"


def load(path):
    return torch.load(path, weights_only=True)


def kept(folder):
    """The epoch and the best score of best.pt and of last.pt."""
    names = sorted(path.name for path in folder.iterdir())
    return [(name, *list(load(folder / name).values())[:2]) for name in names]


@pytest.mark.parametrize(
    ("scores", "epoch", "best"),
    [
        ([0.5], 0, 0.5),
        ([0.5, 0.5, 0.4], 0, 0.5),  # the older of two that are equal
        ([0.5, 0.9, 0.7], 1, 0.9),
        ([-0.7, -0.9, -0.2], 2, -0.2),  # losses
        ([0.5, math.nan, 0.4], 0, 0.5),
        ([math.nan, 0.4], 1, 0.4),
    ],
    ids=str,
)
def test_the_best_epoch_is_kept(folder, scores, epoch, best):
    snippet.train(scores, folder=folder)
    last = len(scores) - 1
    assert kept(folder) == [("best.pt", epoch, best), ("last.pt", last, best)]


def test_without_a_best_score_there_is_no_best_file(folder):
    snippet.train([math.nan], folder=folder)
    assert kept(folder) == [("last.pt", 0, -math.inf)]


@pytest.mark.parametrize(("score", "epoch"), [(0.8, 1), (0.9, 1), (0.91, 2)])
def test_a_restart_has_to_beat_the_old_best(folder, score, epoch):
    snippet.train([0.7, 0.9], folder=folder)
    snippet.train([score], start_epoch=2, folder=folder)
    best = max(score, 0.9)
    assert kept(folder) == [("best.pt", epoch, best), ("last.pt", 2, best)]


@pytest.mark.parametrize("score", [np.float64(0.5), np.float32(0.5), torch.ones(1) / 2])
def test_other_numbers_become_plain_ones(folder, score):
    snippet.train([score, score], folder=folder)
    assert type(load(folder / "best.pt")["best_score"]) is float
    assert kept(folder) == [("best.pt", 0, 0.5), ("last.pt", 1, 0.5)]


def test_every_state_is_saved(folder):
    torch.manual_seed(3)
    model = nn.Linear(1, 1)
    torch.manual_seed(3)
    snippet.train([0.5], folder=folder)
    checkpoint = load(folder / "last.pt")
    assert torch.equal(checkpoint["model_state_dict"]["weight"], model.weight)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    assert checkpoint["optimizer_state_dict"] == optimizer.state_dict()
    assert checkpoint["scheduler_state_dict"] == scheduler.state_dict()
    assert torch.equal(checkpoint["torch_rng_state"], torch.get_rng_state())
    fresh = torch.Generator().get_state()
    assert torch.equal(checkpoint["loader_rng_state"], fresh)
    assert len(checkpoint["cuda_rng_state"]) == torch.cuda.device_count()
    assert list(checkpoint) == list(load(folder / "best.pt"))


def test_the_best_file_is_read_on_the_cpu_and_in_safe_mode(folder, monkeypatch):
    snippet.train([0.5], folder=folder)
    real, options = torch.load, []
    monkeypatch.setattr(
        torch, "load", lambda *a, **k: options.append(k) or real(*a, **k)
    )
    snippet.train([0.4], folder=folder)
    assert options == [{"map_location": "cpu", "weights_only": True}]


def test_a_kill_between_the_two_files_loses_nothing(folder, monkeypatch):
    snippet.train([0.7, 0.8], folder=folder)
    real = snippet.save_checkpoint

    def stop_before_last(checkpoint, path):
        if path.name == "last.pt":
            raise KeyboardInterrupt
        real(checkpoint, path)

    with monkeypatch.context() as patch:
        patch.setattr(snippet, "save_checkpoint", stop_before_last)
        with pytest.raises(KeyboardInterrupt):
            snippet.train([0.9], start_epoch=2, folder=folder)
    assert kept(folder) == [("best.pt", 2, 0.9), ("last.pt", 1, 0.8)]
    # The epoch is repeated, with another result where kernels do not repeat.
    snippet.train([0.85], start_epoch=2, folder=folder)
    assert kept(folder) == [("best.pt", 2, 0.9), ("last.pt", 2, 0.9)]


def test_a_kill_while_writing_leaves_the_old_files(folder, monkeypatch):
    snippet.train([0.5], folder=folder)
    written = []

    def half(checkpoint, path):
        written.append(path)
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", half)
        with pytest.raises(KeyboardInterrupt):
            snippet.train([0.9], start_epoch=1, folder=folder)
    assert written == [folder / "best.tmp"]
    # What is left of it is in nobody's way.
    snippet.train([0.9], start_epoch=1, folder=folder)
    assert kept(folder) == [("best.pt", 1, 0.9), ("last.pt", 1, 0.9)]


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path, monkeypatch):
    path, real, seen = tmp_path / "a.pt", torch.save, []
    snippet.save_checkpoint({"epoch": 0}, path)

    def spy(checkpoint, target):
        real(checkpoint, target)
        seen.append((load(path)["epoch"], target.parent))

    monkeypatch.setattr(torch, "save", spy)
    snippet.save_checkpoint({"epoch": 1}, path)
    assert seen == [(0, tmp_path)]
    assert load(path)["epoch"] == 1
    assert list(tmp_path.iterdir()) == [path]


def test_the_copy_with_a_bare_file_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkpoints").mkdir()
    last = tmp_path / "checkpoints" / "last.pt"
    last.write_text("new")
    with raises_as_documented(PAGE, "FileNotFoundError: [Errno 2] No"):
        shutil.copyfile("best.pt", last)
    # Where such a file does exist, the new checkpoint is what gets lost.
    (tmp_path / "best.pt").write_text("old")
    shutil.copyfile("best.pt", last)
    assert last.read_text() == "old"
    with raises_as_documented(PAGE, "SameFileError: 'best.pt' and 'best.pt'"):
        shutil.copyfile("best.pt", "best.pt")


def test_a_best_of_zero_never_keeps_a_negated_loss(folder):
    snippet.save_checkpoint({"epoch": -1, "best_score": 0.0}, folder / "best.pt")
    snippet.train([-0.7, -0.2], folder=folder)
    assert kept(folder) == [("best.pt", -1, 0.0), ("last.pt", 1, 0.0)]


def test_best_weights_in_memory_need_a_deep_copy():
    model = nn.Linear(1, 1)
    alias, shallow = model.state_dict(), dict(model.state_dict())
    deep = copy.deepcopy(model.state_dict())
    weight = deep["weight"].item()
    nn.init.constant_(model.weight, 7)
    assert alias["weight"].item() == shallow["weight"].item() == 7
    assert deep["weight"].item() == weight


def test_early_stopping_counts_from_the_best_epoch():
    best_score, patience = -math.inf, 2
    for epoch, score in enumerate([0.1, 0.5, 0.4, 0.6, 0.5, 0.6, 0.9]):
        is_best = score > best_score
        best_score = max(best_score, score)
        if is_best:
            best_epoch = epoch
        if epoch - best_epoch >= patience:
            break
    assert (best_epoch, epoch) == (3, 5)
