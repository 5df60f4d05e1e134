"""save-best-model: which file is kept, through ties, NaN, kills and resumes."""

import copy
import math
import shutil

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("training/save_best_model.py")
PAGE = "training/save-best-model"


@pytest.fixture
def run(tmp_path):
    """A folder, and a function that plays epochs with the given scores."""

    def play(scores, best=-math.inf, start=0):
        history = []
        for epoch, score in enumerate(scores, start):
            torch.save({"epoch": epoch, "score": score}, tmp_path / "last.pt")
            before = (tmp_path / "last.pt").read_bytes()
            best = snippet.keep_best(tmp_path / "last.pt", score, best)
            assert (tmp_path / "last.pt").read_bytes() == before
            kept = tmp_path / "best.pt"
            history.append((best, torch.load(kept)["epoch"] if kept.exists() else None))
        return history

    play.folder = tmp_path
    return play


def test_only_an_improvement_is_copied(run):
    nan = math.nan
    history = run([nan, 0.5, 0.5, 0.9, nan, 0.7, 0.95])
    assert history == [
        (-math.inf, None),
        *[(0.5, 1)] * 2,
        *[(0.9, 3)] * 3,
        (0.95, 6),
    ]
    assert sorted(p.name for p in run.folder.iterdir()) == ["best.pt", "last.pt"]


def test_the_copy_has_the_bytes_of_its_source(run):
    run([0.5])
    last, best = (run.folder / name for name in ("last.pt", "best.pt"))
    assert best.read_bytes() == last.read_bytes()
    assert not best.samefile(last)


def test_a_loss_is_passed_with_a_minus(run):
    assert run([-0.7, -0.9, -0.2]) == [(-0.7, 0), (-0.7, 0), (-0.2, 2)]


def test_a_best_of_zero_never_keeps_a_negated_loss(run):
    assert run([-0.7, -0.2], best=0.0) == [(0.0, None)] * 2


def test_a_resumed_run_keeps_the_older_best(run):
    run([0.5, 0.9])
    best = snippet.score_of(run.folder / "best.pt")
    assert best == 0.9
    assert run([0.6, 0.91], best, start=2) == [(0.9, 1), (0.91, 3)]
    # Forgetting to read it is the pitfall.
    assert run([0.6], start=4) == [(0.6, 4)]


def test_without_a_file_anything_is_better(tmp_path):
    assert snippet.score_of(tmp_path / "best.pt") == -math.inf


def test_scores_are_read_on_the_cpu_and_in_safe_mode(tmp_path, monkeypatch):
    path, load, options = tmp_path / "best.pt", torch.load, []
    torch.save({"score": 0.25, "model": nn.Linear(1, 1).state_dict()}, path)

    def spy(*args, **kwargs):
        options.append(kwargs)
        return load(*args, **kwargs)

    monkeypatch.setattr(torch, "load", spy)
    assert snippet.score_of(path) == 0.25
    assert options == [{"map_location": "cpu", "weights_only": True}]


def test_a_kill_while_copying_leaves_the_old_best(run, monkeypatch):
    run([0.5])
    places = []

    def half(source, target):
        places.append((source, target))
        target.write_bytes(source.read_bytes()[:99])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", half)
        with pytest.raises(KeyboardInterrupt):
            run([0.9], best=0.5, start=1)
    assert places == [(run.folder / "last.pt", run.folder / "best.pt.part")]
    assert torch.load(run.folder / "best.pt")["epoch"] == 0
    # The leftover is in nobody's way.
    assert run([0.9], best=0.5, start=1) == [(0.9, 1)]
    assert sorted(p.name for p in run.folder.iterdir()) == ["best.pt", "last.pt"]


def test_without_a_checkpoint_the_best_is_untouched(tmp_path):
    (tmp_path / "best.pt").write_text("old")
    with pytest.raises(FileNotFoundError):
        snippet.keep_best(tmp_path / "last.pt", 1.0, 0.0)
    assert (tmp_path / "best.pt").read_text() == "old"


def test_the_copy_with_a_bare_file_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "last.pt").write_text("new")
    with raises_as_documented(PAGE):
        shutil.copyfile("best.pt", tmp_path / "run" / "last.pt")
    # Where such a file does exist, the new checkpoint is what gets lost.
    (tmp_path / "best.pt").write_text("old")
    shutil.copyfile("best.pt", tmp_path / "run" / "last.pt")
    assert (tmp_path / "run" / "last.pt").read_text() == "old"


def test_copying_a_file_onto_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "best.pt").write_text("x")
    with raises_as_documented(PAGE):
        shutil.copyfile("best.pt", "best.pt")


def test_a_nan_that_was_kept_is_never_replaced():
    best = -math.inf
    for score in (math.nan, 0.9):
        if not score <= best:  # what the page warns of
            best = score
        assert math.isnan(best) or score == 0.9
    for score in (0.9, 1.0):
        assert not score > math.nan
        assert not score < math.nan


def test_best_weights_in_memory_need_a_deep_copy():
    model = nn.Linear(1, 1)
    alias, shallow = model.state_dict(), dict(model.state_dict())
    kept = copy.deepcopy(model.state_dict())
    weight = kept["weight"].item()
    nn.init.constant_(model.weight, 7)
    assert alias["weight"].item() == shallow["weight"].item() == 7
    assert kept["weight"].item() == weight
