"""Train, save, kill, resume: the answers of the checkpoint pages, in one file."""

import json
import signal
import subprocess
import sys

import pytest
import torch

from tests.chains.pasted import answer, bits, load, save_checkpoint, source

pytestmark = pytest.mark.usefixtures("switches")

# What the reader has: dropout and a shuffling loader use random numbers.
READER = """
import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(SEED)
generator = torch.Generator().manual_seed(SEED)
loader = DataLoader(
    torch.linspace(-1, 1, 12).view(12, 1), 3, shuffle=DROPOUT > 0, generator=generator
)
model = nn.Sequential(nn.Linear(1, 8), nn.Dropout(DROPOUT), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
epochs = len(LOSSES)


def train_one_epoch():
    model.train()
    for x in loader:
        optimizer.zero_grad()
        (model(x) - 3 * x).square().mean().backward()
        optimizer.step()


def evaluate():
    return LOSSES[epoch]
"""
LOSSES = [0.3, 0.1, 0.2, 0.15]  # epoch 1 is the best


def replaced(text, old, new):
    assert text.count(old) == 1, f"{text}\ndoes not hold once\n{old}"
    return text.replace(old, new)


def program(best=None):
    """Save, keep the best, resume: put together as the pages say."""
    begin, _, _ = answer("resume-training").partition("for epoch in")
    best = best or answer("save-best-model")
    best = replaced(best, 'start_epoch, best_loss = 0, float("inf")\n', begin)
    return f"{save_checkpoint()}{best}"


def with_random_states(text):
    """The same, and the random states as resume-training adds them."""
    held = '"scheduler_state_dict": scheduler.state_dict(),'
    new = f'{held}\n        "random_states": random_states(generator),'
    text = replaced(text, held, new)
    says = "print(f"
    restore = 'restore_random_states(checkpoint["random_states"], generator)'
    restore = f"if start_epoch:\n    {restore}\n{says}"
    return source("training/random_states.py") + "\n\n" + replaced(text, says, restore)


def run(text, losses=LOSSES, seed=0, dropout=0):
    """Start the reader's script once; its names."""
    names = {"LOSSES": losses, "SEED": seed, "DROPOUT": dropout, "__name__": "pasted"}
    exec(READER, names)
    exec(compile(text, "pasted.py", "exec"), names)
    return names


# One process per moment, which kills itself at the n-th call of a function. They are
# forked from one that has torch, to save the time of importing it three times.
KILLED = """
import json, os, pathlib, signal, sys, torch

def kill_at(owner, name, count):
    real, calls = getattr(owner, name), []

    def counted(*args, **kwargs):
        calls.append(name)
        if len(calls) == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)

    setattr(owner, name, counted)

ended = []
for moment, call in json.loads(sys.argv[3]).items():
    process = os.fork()
    if process == 0:
        pathlib.Path(moment).mkdir()
        os.chdir(moment)
        kill_at(*eval(call))
        names = {"LOSSES": json.loads(sys.argv[2]), "SEED": 0, "DROPOUT": 0}
        exec(sys.argv[1], names)
        os._exit(0)
    ended.append(os.waitpid(process, 0)[1])
print(*map(os.waitstatus_to_exitcode, ended))
"""
MOMENTS = {  # epoch 1 is the best; an epoch takes four batches
    "before best.pt": "pathlib.Path, 'replace', 3",
    "between the two": "pathlib.Path, 'replace', 4",
    "in the next epoch": "torch.optim.Adam, 'step', 11",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Go to an empty folder of this name."""

    def go(name):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        return tmp_path / name / "checkpoints"

    return go


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The folder in which three processes were killed, each in its own."""
    folder = tmp_path_factory.mktemp("killed")
    command = [sys.executable, "-W", "ignore", "-c", KILLED, READER + program()]
    output = subprocess.check_output(
        [*command, json.dumps(LOSSES), json.dumps(MOMENTS)],
        cwd=folder,
        text=True,
        timeout=300,
    )
    assert output.splitlines()[-1].split() == [str(-signal.SIGKILL)] * len(MOMENTS)
    return folder


def epochs(folder):
    return [load(folder / name)["epoch"] for name in ("best.pt", "last.pt")]


@pytest.mark.parametrize(
    ("moment", "left"), list(zip(MOMENTS, [[0, 0], [1, 0], [1, 1]], strict=True))
)
def test_the_best_is_still_the_best_after_a_kill(
    killed, here, monkeypatch, moment, left
):
    whole = here("whole")
    run(program())
    folder = killed / moment / "checkpoints"
    assert epochs(folder) == left
    monkeypatch.chdir(killed / moment)
    names = run(program(), seed=99)  # another process starts with other numbers
    assert epochs(folder) == [1, 3]
    for name in ("best.pt", "last.pt"):
        assert load(folder / name)["best_loss"] == 0.1
        assert torch.equal(bits(folder / name), bits(whole / name))
    best = load(folder / "best.pt")["model_state_dict"]
    torch.testing.assert_close(names["model"].state_dict(), best, rtol=0, atol=0)
    run(program(), [*LOSSES, 0.12])  # more epochs, none of them better
    assert epochs(folder) == [1, 4]
    run(program(), [*LOSSES, 0.12, 0.05])
    assert epochs(folder) == [5, 5]
    assert not list(folder.glob("*.tmp"))


def test_random_numbers_go_on_with_the_states_and_only_with_them(here):
    for text, equal in [(with_random_states(program()), True), (program(), False)]:
        whole = here(f"whole {equal}")
        run(text, dropout=0.5)
        parts = here(f"parts {equal}")
        for done, seed in [(1, 0), (3, 1), (4, 2)]:
            run(text, LOSSES[:done], seed, dropout=0.5)
        found = [
            load(folder / "last.pt")["model_state_dict"] for folder in (whole, parts)
        ]
        same = [
            torch.equal(*pair)
            for pair in zip(*(f.values() for f in found), strict=True)
        ]
        assert all(same) is equal


def test_early_stopping_keeps_the_epoch_of_the_best_file(here):
    folder = here("both")
    losses = [*LOSSES, *[0.2] * 20]
    weights = run(program(), losses)["model"].state_dict()
    stopped = run(answer("early-stopping"), losses)
    assert load(folder / "best.pt")["epoch"] == stopped["best_epoch"] == 1
    assert stopped["epoch"] == 1 + stopped["patience"] < len(losses) - 1
    torch.testing.assert_close(stopped["model"].state_dict(), weights, rtol=0, atol=0)


def test_a_run_without_a_file_is_that_of_save_best_alone(here):
    first = here("alone")
    run(f"{save_checkpoint()}{answer('save-best-model')}")
    second = here("with the block of resuming")
    run(program())
    for name in ("best.pt", "last.pt"):
        assert torch.equal(bits(first / name), bits(second / name))


def test_one_format():
    keys = [
        line.split('"')[1]
        for line in answer("save-checkpoint").splitlines()
        if '": ' in line
    ]
    assert keys[:2] == ["epoch", "best_loss"]
    assert len(keys) == 5
    assert all(f'checkpoint["{key}"]' in answer("resume-training") for key in keys)
