"""err-dataloader-worker: workers that die in each way, and what is said of them."""

import errno
import faulthandler
import inspect
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import current_process, get_context

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, _utils, dataloader

from tests.helpers import (
    assert_documented,
    load_snippet,
    quoted,
    raises_as_documented,
    recipes,
    run_python,
)

PAGE = "errors/err-dataloader-worker"
snippet = load_snippet("errors/err_dataloader_worker.py")


class Dies(Dataset):
    """Samples whose process ends in the way that is asked for."""

    def __init__(self, die):
        self.die = die

    def __len__(self):
        return 2

    def __getitem__(self, index):
        self.die()
        time.sleep(5)


def raised(dataset, **options):
    """Return what the loader said last, and what it named as the cause."""
    try:  # pytest.raises would keep the loader, which reports the death again
        list(DataLoader(dataset, num_workers=1, **options))
    except Exception as error:
        said = [f"{type(e).__name__}: {e}" for e in (error, error.__cause__ or error)]
    return [re.sub(r"pid(\(s\))? \d+", r"pid\1 24118", text) for text in said]


class Holds(Dataset):
    """One sample: whether the data are in memory that processes share."""

    def __init__(self, data):
        self.data = data

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return torch.as_tensor(self.data).is_shared()


def test_a_worker_that_is_no_fork_shares_a_tensor_and_copies_an_array():
    for data in (torch.zeros(3), np.zeros(3)):
        loader = DataLoader(Holds(data), num_workers=1, multiprocessing_context="spawn")
        assert [batch.item() for batch in loader] == [torch.is_tensor(data)]


def by_signal(name):
    def die():
        faulthandler.disable()  # pytest's
        os.kill(os.getpid(), getattr(signal, name))

    return Dies(die)


def test_a_killed_worker():
    _, cause = raised(snippet.Images(killed=True))
    assert_documented(
        PAGE,
        "RuntimeError: DataLoader worker (pid 24118) is killed by signal: K",
        cause,
    )


def test_without_a_signal_as_on_windows(monkeypatch):
    monkeypatch.setattr(_utils, "MP_STATUS_CHECK_INTERVAL", 0.2)
    monkeypatch.setattr(_utils.signal_handling, "_SIGCHLD_handler_set", True)
    before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        last, _ = raised(by_signal("SIGKILL"))
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert_documented(PAGE, "RuntimeError: DataLoader worker (pid(s)", last)


def test_a_worker_that_exits():
    _, cause = raised(snippet.Images(killed=False))
    assert_documented(
        PAGE, "RuntimeError: DataLoader worker (pid 24118) exited unexpectedly w", cause
    )


def test_in_the_main_process_the_error_is_shown():
    dataset = snippet.Images(killed=False)
    with pytest.raises(SystemExit, match=r"cannot read 0\.jpg"):
        list(DataLoader(dataset, num_workers=0))
    assert [dataset[i] for i in (1, 2, 3)] == [1, 2, 3]
    assert len(dataset) == 4


def test_the_answer_stops_at_the_sample_that_fails():
    class Rows(Dataset):
        def __len__(self):
            return 5

        def __getitem__(self, index):
            return [10, 20, 30, "x", 50][index] + 1

    names = {"dataset": Rows()}
    with pytest.raises(TypeError):
        exec(recipes()["err-dataloader-worker"].answer.text, names)
    assert names["index"] == 3


ROWS = """
import os, sys

class Rows:
    def __len__(self):
        return 5

    def __getitem__(self, index):
        if index == 3:
            {}

dataset = Rows()
"""


@pytest.mark.parametrize(
    "die", ["os.kill(os.getpid(), 11)", "os._exit(1)", "sys.exit('bad')", "[][0]"]
)
def test_the_number_of_the_sample_stays_on_the_terminal(tmp_path, die):
    """A traceback, or what the shell says, is printed after it, not over it."""
    script = tmp_path / "find.py"
    answer = recipes()["err-dataloader-worker"].answer.text
    script.write_text(ROWS.format(die) + answer)
    done = subprocess.run([sys.executable, script], capture_output=True, check=False)
    assert done.returncode
    shown = b""
    for text in (done.stderr + b"$ ").split(b"\n")[0].split(b"\r"):
        shown = text + shown[len(text) :]
    assert shown.startswith(b"3 ")


def test_a_crash():
    _, cause = raised(by_signal("SIGSEGV"))
    assert_documented(
        PAGE,
        "RuntimeError: DataLoader worker (pid 24118) is killed by signal: S",
        cause,
    )


def test_without_workers_faulthandler_prints_the_line_that_crashes(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import os\n\nos.kill(os.getpid(), 11)\n")
    done = run_python("-X", "faulthandler", "train.py", folder=tmp_path)
    assert done.returncode == -signal.SIGSEGV
    assert 'train.py", line 3' in done.stderr


def test_an_abort():
    _, cause = raised(by_signal("SIGABRT"))
    assert_documented(
        PAGE,
        "RuntimeError: DataLoader worker (pid 24118) is killed by signal: A",
        cause,
    )


def test_the_end_of_a_job():
    _, cause = raised(by_signal("SIGTERM"))
    assert_documented(
        PAGE,
        "RuntimeError: DataLoader worker (pid 24118) is killed by signal: T",
        cause,
    )


LEAK = """
import os, signal
from multiprocessing import get_context
lock = get_context("spawn").Lock()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_program_leaks_semaphores():
    done = subprocess.run(
        [sys.executable, "-c", LEAK], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL
    said = done.stderr[done.stderr.index("resource_tracker: ") :]
    assert_documented(PAGE, "resource_tracker: There", said)


def test_an_exception_is_passed_on():
    last, _ = raised(Dies(lambda: int("x")))
    assert_documented(PAGE, "ValueError: Caught ValueError in", last)
    assert last.rstrip().endswith(
        "ValueError: invalid literal for int() with base 10: 'x'"
    )


def test_workers_in_a_worker():
    last, _ = raised(Dies(lambda: list(DataLoader(range(3), num_workers=1))))
    assert_documented(PAGE, "AssertionError: daemonic", last.rstrip().split("\n")[-1])
    with ProcessPoolExecutor(1, get_context("fork")) as pool:
        assert pool.submit(len, "abc").result() == 3
        assert not pool.submit(is_daemon).result()


def test_what_is_said_of_a_pinning_thread_that_ended():
    text = quoted(PAGE, "RuntimeError: Pin memory").removeprefix("RuntimeError: ")
    assert f'RuntimeError("{text}")' in inspect.getsource(dataloader)


def is_daemon():
    return current_process().daemon


def test_a_fork_for_which_there_is_no_memory(monkeypatch):
    def refuse():
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(os, "fork", refuse)
    start = "OSError: [Errno 12] Cannot"
    with raises_as_documented(PAGE, start):
        iter(DataLoader(range(9), num_workers=2, multiprocessing_context="fork"))


def test_each_epoch_starts_its_workers_anew_unless_they_persist():
    def workers(loader):
        first, second = (torch.cat([*loader]).unique().tolist() for _ in range(2))
        return first == second

    options = {"num_workers": 2, "multiprocessing_context": "fork"}
    assert not workers(DataLoader(Process(), **options))
    assert workers(DataLoader(Process(), persistent_workers=True, **options))


class Process(Dataset):
    """The number of the process that reads the sample."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return os.getpid()


def test_a_slow_sample():
    last, _ = raised(Dies(lambda: None), timeout=0.1)
    assert_documented(PAGE, "RuntimeError: DataLoader timed out", last)


def test_two_batches_are_prepared_per_worker():
    loader = DataLoader(snippet.Images(killed=False), num_workers=2)
    assert loader.prefetch_factor == 2
    iterator = iter(DataLoader(range(99), num_workers=2, prefetch_factor=1))
    assert iterator._tasks_outstanding == 2
