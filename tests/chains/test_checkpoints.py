"""Train, save, kill, resume: the checkpoint pages pasted together, in one folder."""

import ast
import itertools
import json
import runpy
import signal
import subprocess
import sys

import pytest
import torch

from tests.chains.pasted import bits, lines, load, put, source
from tests.helpers import ROOT

pytestmark = pytest.mark.usefixtures("switches")
SAVE = "training/save_checkpoint.py"
BEST = "training/save_best_model.py"
RESUME = "training/resume_training.py"
SEEDS = "reproducibility/set_all_seeds.py"


def with_best(program):
    """resume-training with the lines of save-best-model, where its comment asks."""
    here = "# Validate here"
    scored = "score = SCORES[epoch]\n" + lines(BEST, "is_best =", "best_score =")
    program = put(program, here, here, scored)
    written = lines(BEST, "if is_best", "save_checkpoint(checkpoint, last)")
    program = put(program, "last.parent.mkdir", "last.with_suffix", written)
    paths = lines(BEST, "best, last =", "best, last =")
    program = put(program, "start_epoch,", "start_epoch,", f"{paths}\n{STARTS}")
    train = "def train(epochs, folder=Path('checkpoints')):"
    function = lines(BEST, "def save_checkpoint", 'path.with_suffix(".tmp").r')
    return put(program, "def train", "def train", f"{function}\n\n\n{train}")


def with_seeds(program, workers=0):
    """The same with the seeds of set-all-seeds, and its generator."""
    generator = lines(SEEDS, "generator =", "generator =")
    program = put(program, "generator =", "generator =", f"seed = 0\n{generator}")
    old = "generator=generator)"
    assert program.count(old) == 1
    program = program.replace(old, f"generator=generator, num_workers={workers})")
    return source(SEEDS) + "\n\n" + program


STARTS = lines(RESUME, "start_epoch,", "start_epoch,")
PROGRAM = with_best(source(RESUME))

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
for moment, call in json.loads(sys.argv[2]).items():
    process = os.fork()
    if process == 0:
        pathlib.Path(moment).mkdir()
        os.chdir(moment)
        kill_at(*eval(call))
        torch.manual_seed(0)
        names = {"__name__": "pasted", "SCORES": [0.7, 0.9, 0.8, 0.85]}
        exec(sys.argv[1], names)
        names["train"](4)
        os._exit(0)
    ended.append(os.waitpid(process, 0)[1])
print(*map(os.waitstatus_to_exitcode, ended))
"""
MOMENTS = {  # epoch 1 is the best; an epoch takes four batches
    "before best.pt": "pathlib.Path, 'replace', 3",
    "between the two": "pathlib.Path, 'replace', 4",
    "in the next epoch": "torch, 'randn_like', 11",
}


def run(program, scores=(), **names):
    """Run a program in this process; its functions."""
    names = {"__name__": "pasted", "SCORES": scores, **names}
    exec(compile(program, "pasted.py", "exec"), names)
    return names


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Four epochs without an interruption: the folder of checkpoints."""
    folder = tmp_path_factory.mktemp("whole")
    torch.manual_seed(0)
    run(PROGRAM, [0.7, 0.9, 0.8, 0.85])["train"](4, folder)
    return folder


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The folder in which three processes were killed, each in its own."""
    folder = tmp_path_factory.mktemp("killed")
    command = [sys.executable, "-W", "ignore", "-c", KILLED, PROGRAM]
    output = subprocess.check_output(
        [*command, json.dumps(MOMENTS)], cwd=folder, text=True, timeout=300
    )
    assert output.splitlines()[-1].split() == [str(-signal.SIGKILL)] * len(MOMENTS)
    return folder


def epochs(folder):
    return [load(folder / name)["epoch"] for name in ("best.pt", "last.pt")]


@pytest.mark.parametrize(
    ("moment", "left"), list(zip(MOMENTS, [[0, 0], [1, 0], [1, 1]], strict=True))
)
def test_the_best_score_is_still_the_best_after_a_kill(killed, whole, moment, left):
    folder = killed / moment / "checkpoints"
    assert epochs(folder) == left
    torch.manual_seed(99)  # another process starts with other numbers
    train = run(PROGRAM, [0.7, 0.9, 0.8, 0.85, 0.89, 0.95])["train"]
    train(4, folder)
    assert epochs(folder) == [1, 3]
    for name in ("best.pt", "last.pt"):
        assert load(folder / name)["best_score"] == 0.9
        assert torch.equal(bits(folder / name), bits(whole / name))
    train(5, folder)
    assert epochs(folder) == [1, 4]
    train(6, folder)
    assert epochs(folder) == [5, 5]


@pytest.mark.parametrize("workers", [0, 2])
def test_seeds_and_a_generator_of_its_own_survive_an_interruption(workers, tmp_path):
    program = with_seeds(source(RESUME), workers)

    def script(epochs, last, seed=0):
        """What runs each time the script is started."""
        names = run(program)
        names["set_seed"](seed)
        names["set_deterministic"]()
        names["train"](epochs, last)
        return last

    whole = script(4, tmp_path / "whole" / "last.pt")
    parts = tmp_path / "parts" / "last.pt"
    script(1, parts)
    script(3, parts)
    script(4, parts, seed=1)  # the seeds of the first start count
    assert torch.equal(bits(parts), bits(whole))
    other = script(4, tmp_path / "other" / "last.pt", seed=1)
    assert not torch.equal(bits(other), bits(whole))


def test_the_generator_has_to_be_restored(tmp_path):
    """What resuming was like while the two pages did not know each other."""
    restored = "generator.set_state"
    forgetful = put(source(RESUME), restored, restored, "pass")
    for program, equal in ((source(RESUME), True), (forgetful, False)):
        found = []
        for stops in ([4], [2, 4]):
            last = tmp_path / f"{equal}{len(stops)}" / "last.pt"
            torch.manual_seed(0)
            for epochs in stops:
                run(program)["train"](epochs, last)
            found.append(load(last)["model_state_dict"]["weight"])
        assert torch.equal(*found) is equal


@pytest.mark.parametrize("order", list(itertools.permutations([SAVE, BEST, RESUME])))
def test_the_pages_share_a_folder_in_any_order(order, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "checkpoints"
    for snippet in order * 2:
        runpy.run_path(str(ROOT / "snippets" / snippet), run_name="__main__")
        files = sorted(path.name for path in folder.iterdir())
        assert files in (["last.pt"], ["best.pt", "last.pt"])
        if "best.pt" in files:
            best = load(folder / "best.pt")
            assert (best["epoch"], best["best_score"]) == (1, 0.9)
    # And a program of all three goes on from there: 0.9 has to be beaten.
    last = load(folder / "last.pt")["epoch"]
    reread = lines(BEST, "if best.exists", "best_score =")
    loop = "for epoch in range"
    program = put(PROGRAM, loop, loop, f"{reread}\n{lines(RESUME, loop, loop)}")
    run(program, [0.89] * (last + 2))["train"](last + 2, folder)
    assert epochs(folder) == [1, last + 1]


def keys(snippet):
    """The keys of the checkpoint, in the order in which a page shows them."""
    tree = ast.parse((ROOT / "snippets" / snippet).read_text("utf-8"))
    dicts = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    (found,) = [[key.value for key in node.keys] for node in dicts if node.keys]
    return found


def test_one_format():
    assert keys(SAVE) == keys(BEST) == keys(RESUME)
    assert "last.pt" in lines(SAVE, "(folder", "(folder")
    program = source(RESUME)
    assert all(f'checkpoint["{key}"]' in program for key in keys(SAVE))
