"""err-shared-memory: each message is raised, and open files are counted."""

import os
import re
import resource
import shutil
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

from tests.helpers import assert_documented, load_snippet, raises_as_documented

PAGE = "errors/err-shared-memory"


@contextmanager
def sharing(strategy, files=None):
    """Share tensors in this way, with so many open files, and undo it."""
    before = mp.get_sharing_strategy()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    mp.set_sharing_strategy(strategy)
    if files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        mp.set_sharing_strategy(before)


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


class Dies(Dataset):
    """Samples whose process has a bus error."""

    def __len__(self):
        return 1

    def __getitem__(self, index):
        os.kill(os.getpid(), signal.SIGBUS)


def test_the_snippet_shares_more_tensors_than_files_may_be_open(capsys):
    with sharing("file_descriptor", files=64):  # puts the limit back
        snippet = load_snippet("errors/err_shared_memory.py")
        assert mp.get_sharing_strategy() == "file_system"
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 64
    assert capsys.readouterr().out == "shared: 100\n"
    assert all(tensor.is_shared() for tensor in snippet.shared)


@pytest.mark.parametrize(
    ("strategy", "few"), [("file_descriptor", False), ("file_system", True)]
)
def test_which_strategy_keeps_files_open(strategy, few):
    with sharing(strategy):
        torch.zeros(1).share_memory_()
        before = open_files()
        kept = [torch.zeros(1).share_memory_() for _ in range(30)]
        assert (open_files() - before < 5) is few
    assert len(kept) == 30


def test_more_than_there_is_raises():
    total = shutil.disk_usage("/dev/shm").total
    with raises_as_documented(PAGE, "RuntimeError: unable to allocate shared"):
        torch.UntypedStorage._new_shared(2 * total)
    for file in Path("/dev/shm").glob(f"torch_{os.getpid()}_*"):
        if file.stat().st_size == 2 * total:
            file.unlink()  # torch leaves it there; it takes no room


@pytest.mark.parametrize("strategy", ["file_descriptor", "file_system"])
def test_either_strategy_uses_dev_shm(strategy):
    with sharing(strategy):
        kept = torch.ones(8_000_000, dtype=torch.uint8).share_memory_()
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end = (int(n, 16) for n in line.split()[0].split("-"))
        if start <= kept.data_ptr() < end:
            assert "/dev/shm/torch_" in line
            return
    pytest.fail("the tensor is in no mapping")


def test_too_many_open_files():
    with (
        sharing("file_descriptor", files=64),
        raises_as_documented(PAGE, "RuntimeError: unable to open shared memory object"),
    ):
        kept = [torch.zeros(1).share_memory_() for _ in range(100)]
    assert "kept" not in locals()


def test_too_many_open_files_in_a_loader():
    said = []
    with sharing("file_descriptor", files=open_files() + 40):
        try:  # pytest.raises would keep the loader
            kept = list(DataLoader(torch.zeros(200, 1), num_workers=1))
        except RuntimeError as error:
            said.append(f"RuntimeError: {error}")
    assert "kept" not in locals()
    assert_documented(PAGE, "RuntimeError: Too many open files.", said[0])


def test_a_bus_error_in_a_worker(capfd):
    said = []
    try:
        list(DataLoader(Dies(), num_workers=1))
    except RuntimeError as error:
        said.append(f"RuntimeError: {error.__cause__ or error}")
    raised = re.sub(r"pid \d+", "pid 24118", said[0])
    assert_documented(
        PAGE, "RuntimeError: DataLoader worker (pid 24118) is killed by", raised
    )
    assert "insufficient shared memory (shm)." in capfd.readouterr().err
