"""mp-spawn: real processes against plain loops, and how their failures arrive."""

import signal

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from tests.helpers import (
    TORCH_CUDA,
    assert_documented,
    cuda_build,
    lacking,
    load_snippet,
    quoted,
    raises_as_documented,
    run_python,
)

SNIPPET = "distributed/mp_spawn.py"
PAGE = "distributed/mp-spawn"
snippet = load_snippet(SNIPPET)

# How a child fails is told in the same way however it was started; forks are fast.
FAILURES = """
import os, signal, torch, torch.multiprocessing as mp

def raises(rank):
    if rank == 1:
        raise ValueError("no such file")

def dies(rank):
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)

def work(rank):
    pass

errors = []
for task, args, n in ((raises, (), 2), (dies, (), 2), (work, (2,), 1)):
    try:
        mp.start_processes(task, args, nprocs=n, start_method="fork")
    except Exception as error:
        errors.append(f"{type(error).__name__}: {error}")
torch.save(errors, "errors.pt")
"""


def test_two_processes_share_the_work_and_leave_nothing_behind(tmp_path):
    done = run_python(snippet.__file__, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    shares = [[i * i for i in range(rank, 5, 2)] for rank in range(2)]
    assert done.stdout == f"{shares}\n"
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("own_process")
def test_one_process_does_all(tmp_path):
    snippet.work(0, 1, str(tmp_path))
    results = torch.load(tmp_path / "results.pt", weights_only=True)
    assert results == [[0, 1, 4, 9, 16]]
    assert not dist.is_initialized()


def test_only_rank_0_writes(monkeypatch, tmp_path):
    """The sizes of the shares may differ: what is gathered is pickled."""
    gathered = []
    monkeypatch.setattr(dist, "init_process_group", lambda *a, **given: None)
    monkeypatch.setattr(dist, "FileStore", lambda path, world_size: None)
    monkeypatch.setattr(dist, "destroy_process_group", lambda: None)
    monkeypatch.setattr(dist, "gather_object", lambda *a: gathered.append(a))
    snippet.work(2, 3, str(tmp_path))
    assert gathered == [([4], None)]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_a_space_and_a_foreign_name(tmp_path):
    """A URI of it would hold %20, which torch does not decode, and waits."""
    odd = tmp_path / "my 文件"
    odd.mkdir()
    done = run_python(snippet.__file__, folder=tmp_path, TMPDIR=str(odd))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[[0, 4, 16], [1, 9]]\n"


def test_how_failures_arrive(tmp_path):
    (tmp_path / "driver.py").write_text(FAILURES)
    done = run_python("driver.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    raised, killed, extra = torch.load(tmp_path / "errors.pt")
    assert_documented(PAGE, "ProcessRaisedException:", raised)
    assert raised.rstrip().endswith("ValueError: no such file")
    assert_documented(PAGE, "ProcessExitedException: process 1", killed)
    assert killed.endswith(signal.SIGKILL.name)
    last = extra.rstrip().splitlines()[-1]
    assert_documented(PAGE, "TypeError: work() takes", last)


def test_a_main_guard_is_needed(tmp_path):
    (tmp_path / "bare.py").write_text(
        "import torch.multiprocessing as mp\n"
        "def work(index):\n"
        "    pass\n"
        "mp.spawn(work, nprocs=1)\n"
    )
    error = run_python("bare.py", folder=tmp_path).stderr
    error = error[error.index("RuntimeError:") :]
    assert_documented(PAGE, "RuntimeError:\n        An attempt", error)
    assert "ProcessExitedException: process 0 terminated with exit code 1" in error


def test_a_local_function_can_not_be_pickled():
    with pytest.raises(Exception, match=r"Can't (pickle|get) local object"):
        mp.spawn(lambda index: None)


@pytest.mark.usefixtures("group")
def test_all_gather_wants_equal_shapes():
    with raises_as_documented(
        PAGE, "RuntimeError: ProcessGroupGloo::allgather: invalid tensor"
    ):
        dist.all_gather([torch.zeros(2)], torch.zeros(3))
    results = [None]
    dist.all_gather_object(results, [0, 1, 4])
    assert results == [[0, 1, 4]]


@pytest.mark.usefixtures("own_process")
def test_a_port_that_is_taken():
    taken = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    address = f"tcp://127.0.0.1:{taken.port}"
    with raises_as_documented(PAGE, "DistNetworkError: The server socket"):
        dist.init_process_group("gloo", address, rank=0, world_size=1)


def test_cuda_after_a_fork(monkeypatch):
    if torch.cuda.is_initialized():
        pytest.skip("wants CUDA not to be initialised")
    monkeypatch.setattr(torch.cuda, "_is_in_bad_fork", lambda: True)
    with raises_as_documented(PAGE, "RuntimeError: Cannot re-initialize CUDA"):
        torch.cuda.init()


@cuda_build
def test_a_sender_that_ends_too_early():
    assert not lacking(TORCH_CUDA, quoted(PAGE, "Producer process has been"))
