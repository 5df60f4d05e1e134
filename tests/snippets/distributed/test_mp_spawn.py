"""mp-spawn: real processes against plain loops, and how their failures arrive."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from tests.helpers import documented_errors, load_snippet, raises_as_documented

SNIPPET = "distributed/mp_spawn.py"
PAGE = "distributed/mp-spawn"
snippet = load_snippet(SNIPPET)

FAILURES = """
import os, signal, sys
import torch, torch.distributed as dist, torch.multiprocessing as mp
from mp_spawn import spawn

def task(rank, W):
    if rank == 1:
        raise ValueError("no such file")
    dist.barrier()

def killed(rank, W):
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.barrier()

def uneven(rank, W):
    everything = [torch.zeros(2) for _ in range(W)]
    dist.all_gather(everything, torch.zeros(2 + rank))

def share(rank, W):
    everything = [None] * W
    dist.all_gather_object(everything, "x" * rank)
    return {"rank": rank, "W": W, "all": everything, "t": torch.ones(rank, 2)}

if __name__ == "__main__":
    errors = []
    for each in (task, killed, uneven):
        try:
            spawn(each, 2)
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")
    torch.save([errors, spawn(share, 3)], "out.pt")
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What a script of its own saw, since spawn imports its main module."""
    folder = tmp_path_factory.mktemp("spawn")
    (folder / "driver.py").write_text(FAILURES)
    run(folder, "driver.py", check=True)
    return torch.load(folder / "out.pt")


def run(folder: Path, script: str, check: bool = False):
    environment = {
        **os.environ,
        "PYTHONWARNINGS": "error",
        "PYTHONPATH": str(Path(snippet.__file__).parent),
        "TMPDIR": str(folder),
    }
    return subprocess.run(
        [sys.executable, script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=check,
        timeout=60,
    )


def quoted(error: str) -> bool:
    """Whether the page quotes the error; an editor trims the ends of lines."""
    trimmed = "\n".join(line.rstrip() for line in error.splitlines())
    return any(trimmed.startswith(text) for text in documented_errors(PAGE))


def test_results_of_any_size_in_order_of_rank(results):
    for rank, result in enumerate(results[1]):
        assert torch.equal(result.pop("t"), torch.ones(rank, 2))
        assert result == {"rank": rank, "W": 3, "all": ["", "x", "xx"]}
    assert len(results[1]) == 3


def test_the_first_error_arrives_with_its_traceback(results):
    raised = results[0][0]
    assert quoted(raised)
    assert raised.rstrip().endswith("ValueError: no such file")
    assert "in task" in raised


def test_a_killed_process(results):
    assert quoted(results[0][1])
    assert results[0][1].endswith(signal.SIGKILL.name)


def test_all_gather_wants_equal_shapes(results):
    assert quoted(results[0][2].splitlines()[-1])


def test_the_shares_and_their_sum():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        assert snippet.squares(0, 1) == ([0, 1, 4, 9, 16], 30)
        assert snippet.squares(1, 3) == ([1, 16], 17)
        assert snippet.squares(6, 7) == ([], 0)
    finally:
        dist.destroy_process_group()


class Rank:
    """A stand-in for ``dist`` that notes what a process does."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *args, **options: self.calls.append((name, args, options))


@pytest.mark.parametrize("rank", [0, 1])
def test_each_process_joins_gathers_and_leaves(monkeypatch, tmp_path, rank):
    record = Rank()
    monkeypatch.setattr(snippet, "dist", record)
    snippet.join(rank, 2, str(tmp_path), lambda rank, W: (rank, W))
    gathered = [None, None] if rank == 0 else None
    assert record.calls == [
        (
            "init_process_group",
            ("gloo", f"file://{tmp_path}/store"),
            {"rank": rank, "world_size": 2},
        ),
        ("gather_object", ((rank, 2), gathered), {}),
        ("destroy_process_group", (), {}),
    ]
    assert [file.name for file in tmp_path.iterdir()] == ["results.pt"] * (rank == 0)


def test_a_main_guard_is_needed(tmp_path):
    (tmp_path / "bare.py").write_text(
        "import torch.multiprocessing as mp\n"
        "def work(index):\n"
        "    pass\n"
        "mp.spawn(work, nprocs=1)\n"
    )
    error = run(tmp_path, "bare.py").stderr
    start = error.index("RuntimeError:")
    assert quoted(error[start:])
    assert "ProcessExitedException: process 0 terminated with exit code 1" in error


def test_the_script_itself_leaves_nothing_behind(tmp_path):
    done = run(tmp_path, snippet.__file__, check=True)
    assert done.stdout.splitlines() == [
        "rank 0: [0, 4, 16] of a total of 30",
        "rank 1: [1, 9] of a total of 30",
    ]
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_a_local_function_can_not_be_pickled():
    with pytest.raises(Exception, match=r"Can't (pickle|get) local object"):
        mp.spawn(lambda index: None)


def test_a_port_that_is_taken():
    taken = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    address = f"tcp://127.0.0.1:{taken.port}"
    with raises_as_documented(PAGE):
        dist.init_process_group("gloo", address, rank=0, world_size=1)


def test_cuda_after_a_fork(monkeypatch):
    if torch.cuda.is_initialized():
        pytest.skip("wants CUDA not to be initialised")
    monkeypatch.setattr(torch.cuda, "_is_in_bad_fork", lambda: True)
    with raises_as_documented(PAGE):
        torch.cuda.init()
