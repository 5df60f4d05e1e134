"""resume-training: a killed process, resumed by another, against a whole run."""

import io
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "training/resume_training.py"
PAGE = "training/resume-training"
snippet = load_snippet(SNIPPET)

KILLED = """
import os, pathlib, runpy, signal, sys, torch
train = runpy.run_path(sys.argv[1])["train"]
real_save = torch.save

def save(checkpoint, path):
    if checkpoint["epoch"] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    real_save(checkpoint, path)

torch.save = save
torch.manual_seed(5)
train(6, pathlib.Path("checkpoints/last.pt"))
"""


def load(path):
    return torch.load(path, weights_only=True)


def bits(path):
    """A checkpoint as one tensor, to be compared bit by bit."""
    parts, todo = [], [load(path)]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            todo += part.values()
        elif isinstance(part, (list, tuple)):
            todo += part
        else:
            parts.append(torch.as_tensor(0 if part is None else part).double())
    return torch.cat([part.flatten() for part in parts])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Six epochs without interruption."""
    path = tmp_path_factory.mktemp("whole") / "last.pt"
    torch.manual_seed(5)
    snippet.train(6, path)
    return path


@pytest.fixture
def half(tmp_path):
    """A checkpoint after four of six epochs; then other random numbers."""
    path = tmp_path / "runs" / "checkpoints" / "last.pt"
    torch.manual_seed(5)
    snippet.train(4, path)
    torch.manual_seed(99)
    return path


def test_a_resumed_run_ends_with_the_same_bits(half, whole):
    assert not torch.equal(bits(half), bits(whole))
    snippet.train(6, half)
    assert torch.equal(bits(half), bits(whole))


def test_another_process_finishes_a_killed_run_bit_by_bit(tmp_path, whole):
    command = [sys.executable, "-c", KILLED, str(ROOT / "snippets" / SNIPPET)]
    run = subprocess.run(command, cwd=tmp_path, check=False, timeout=300)
    assert run.returncode == -signal.SIGKILL
    path = tmp_path / "checkpoints" / "last.pt"
    assert load(path)["epoch"] == 2
    snippet.train(6, path)
    assert torch.equal(bits(path), bits(whole))


def test_interrupted_after_every_epoch(tmp_path, whole, capsys):
    torch.manual_seed(5)
    for stop in range(1, 7):
        snippet.train(stop, tmp_path / "last.pt")
        torch.manual_seed(stop)
    assert torch.equal(bits(tmp_path / "last.pt"), bits(whole))
    printed = capsys.readouterr().out.splitlines()
    assert printed == [f"epoch {epoch} of {epoch + 1}" for epoch in range(6)]


def test_a_finished_run_does_nothing(half, capsys):
    before = half.read_bytes()
    capsys.readouterr()
    snippet.train(4, half)
    assert half.read_bytes() == before
    assert capsys.readouterr().out == ""


def forget(checkpoint, entry):
    """Undo one entry, to what a program that ignores it would start with."""
    if entry == "model":
        checkpoint["model_state_dict"]["weight"].mul_(1.01)
    elif entry == "optimizer":
        checkpoint["optimizer_state_dict"]["state"] = {}
    elif entry == "learning rate":
        checkpoint["optimizer_state_dict"]["param_groups"][0]["lr"] = 0.1
    elif entry == "scheduler":
        checkpoint["scheduler_state_dict"]["last_epoch"] = 0
    elif entry == "torch":
        checkpoint["torch_rng_state"] = torch.get_rng_state()
    elif entry == "loader":
        checkpoint["loader_rng_state"] = torch.Generator().get_state()
    elif entry == "epoch":
        checkpoint["epoch"] -= 1


@pytest.mark.parametrize(
    "entry",
    ["model", "optimizer", "learning rate", "scheduler", "torch", "loader", "epoch"],
)
def test_each_entry_is_needed(half, whole, entry):
    checkpoint = load(half)
    forget(checkpoint, entry)
    torch.save(checkpoint, half)
    snippet.train(6, half)
    found, expected = load(half), load(whole)
    assert not torch.equal(
        found["model_state_dict"]["weight"], expected["model_state_dict"]["weight"]
    )


def test_the_best_score_is_carried_on(half):
    checkpoint = load(half)
    assert checkpoint["best_score"] == float("-inf")  # nothing was validated
    torch.save({**checkpoint, "best_score": 0.9}, half)
    snippet.train(6, half)
    assert load(half)["best_score"] == 0.9


def test_it_learns_and_the_schedule_goes_on(whole):
    checkpoint = load(whole)
    assert checkpoint["model_state_dict"]["weight"].item() == pytest.approx(3, abs=1.5)
    # Cosine annealing with T_max=4, two steps on its way up again.
    (group,) = checkpoint["optimizer_state_dict"]["param_groups"]
    assert group["lr"] == pytest.approx(0.1 * (1 - np.cos(2 / 4 * np.pi)) / 2)


def test_a_kill_while_writing_leaves_the_old_file(half, whole, monkeypatch):
    def interrupted(checkpoint, path):
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", interrupted)
        with pytest.raises(KeyboardInterrupt):
            snippet.train(6, half)
    assert load(half)["epoch"] == 3
    snippet.train(6, half)
    assert torch.equal(bits(half), bits(whole))
    assert [path.name for path in half.parent.iterdir()] == ["last.pt"]


def test_the_states_of_all_gpus_are_saved(tmp_path, monkeypatch):
    states = [torch.get_rng_state(), torch.Generator().get_state()]
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: states)
    snippet.train(1, tmp_path / "last.pt")
    saved = load(tmp_path / "last.pt")["cuda_rng_state"]
    assert all(map(torch.equal, saved, states))
    assert len(saved) == 2


def test_states_of_more_gpus_than_there_are(half, monkeypatch):
    states = [torch.get_rng_state()] * 3
    torch.save({**load(half), "cuda_rng_state": states}, half)
    seen = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", seen.extend)
    snippet.train(4, half)
    assert len(seen) == 2


def test_the_file_is_read_on_the_cpu_and_in_safe_mode(half, monkeypatch):
    real, options = torch.load, []
    monkeypatch.setattr(
        torch, "load", lambda *a, **k: options.append(k) or real(*a, **k)
    )
    snippet.train(4, half)
    assert options == [{"map_location": "cpu", "weights_only": True}]


class Augmented(Dataset):
    """Samples with random numbers of all three libraries."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return index, torch.rand(()), np.random.rand()


def epochs(count, state=None, persistent=False):
    """The batches of some epochs, and the generator's state afterwards."""
    generator = torch.Generator().manual_seed(0)
    if state is not None:
        generator.set_state(state)
    loader = DataLoader(
        Augmented(),
        batch_size=2,
        shuffle=True,
        num_workers=1,
        generator=generator,
        persistent_workers=persistent,
    )
    seen = [
        [torch.stack(list(batch)).tolist() for batch in loader] for _ in range(count)
    ]
    return seen, generator.get_state()


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_follow_the_generator_unless_they_persist(persistent):
    uninterrupted, _ = epochs(2, persistent=persistent)
    first, state = epochs(1, persistent=persistent)
    second, _ = epochs(1, state, persistent=persistent)
    assert first == uninterrupted[:1]
    assert (second == uninterrupted[1:]) is not persistent


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


def test_the_documented_errors(tmp_path, half):
    with raises_as_documented(
        PAGE, "TypeError: RNG state must"
    ):  # what map_location="cuda" leads to
        torch.set_rng_state(torch.get_rng_state().to("meta"))
    model = nn.Linear(1, 8)
    frozen = torch.optim.Adam([model.weight])
    with raises_as_documented(PAGE, "ValueError: loaded state dict"):
        frozen.load_state_dict(torch.optim.Adam(model.parameters()).state_dict())
    torch.save({"best_score": np.float64(0.5)}, tmp_path / "numpy.pt")
    with raises_as_documented(PAGE, "UnpicklingError: Weights only load"):
        snippet.train(1, tmp_path / "numpy.pt")
    weights = load(half)["model_state_dict"]
    with raises_as_documented(PAGE, "TypeError: 'collections.OrderedDict' object is"):
        weights(torch.ones(1))
    with raises_as_documented(PAGE, "AttributeError: 'torch._C.Generator' object has"):
        torch.Generator().state_dict()
    torch.save({"model": weights}, tmp_path / "other.pt")
    with raises_as_documented(PAGE, "KeyError: 'model_state_dict'"):
        snippet.train(1, tmp_path / "other.pt")
    optimizer = torch.optim.Adam(model.parameters())
    with raises_as_documented(PAGE, "KeyError: \"param 'initial_lr' is"):
        torch.optim.lr_scheduler.StepLR(optimizer, 1, last_epoch=3)


def test_the_learning_rate_of_the_file_wins(half):
    checkpoint = load(half)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=5.0)
    optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0, abs=1e-6)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=100)
    scheduler.load_state_dict(checkpoint["scheduler_state_dict"])
    assert scheduler.T_max == 4


@pytest.mark.parametrize("name", ["StepLR", "CosineAnnealingLR", "LambdaLR"])
def test_how_the_page_changes_the_learning_rate(name):
    """After loading, as if the run had been built with another one."""
    options = {
        "StepLR": (2,),
        "CosineAnnealingLR": (9,),
        "LambdaLR": (lambda e: 0.9**e,),
    }

    def build(lr):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=lr)
        scheduler = getattr(torch.optim.lr_scheduler, name)(optimizer, *options[name])
        return optimizer, scheduler

    def step(optimizer, scheduler, count):
        rates = []
        for _ in range(count):
            optimizer.step()
            scheduler.step()
            rates.append(optimizer.param_groups[0]["lr"])
        return rates

    before, after = build(0.1), build(0.1)
    step(*before, 3)
    for old, new in zip(before, after, strict=True):
        new.load_state_dict(old.state_dict())
    optimizer, scheduler = after
    for group in optimizer.param_groups:
        group["lr"] *= 10
    scheduler.base_lrs = [10 * lr for lr in scheduler.base_lrs]
    expected = step(*build(1.0), 6)[3:]
    assert step(*after, 3) == pytest.approx(expected)


def test_parameters_are_matched_by_position():
    a, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([a, b], lr=0.1, momentum=0.9)
    (a + 2 * b).backward()
    optimizer.step()
    swapped = torch.optim.SGD([b, a], lr=0.1, momentum=0.9)
    swapped.load_state_dict(optimizer.state_dict())
    assert swapped.state[b]["momentum_buffer"].item() == 1
    assert swapped.state[a]["momentum_buffer"].item() == 2
