"""cpu-threads: what each setting changes, in this process and in children."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.utils.data import DataLoader

from tests.helpers import load_snippet, raises_as_documented

PAGE = "performance/cpu-threads"


@pytest.fixture(autouse=True)
def threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def in_a_child(code, **environment):
    clean = {k: v for k, v in os.environ.items() if "NUM_THREADS" not in k}
    command = [sys.executable, "-c", code]
    run = subprocess.run(
        command, env=clean | environment, capture_output=True, text=True
    )
    return run.stdout.split()


def test_one_thread_here(capsys, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    torch.set_num_threads(2)
    load_snippet("performance/cpu_threads.py")
    assert torch.get_num_threads() == 1
    assert capsys.readouterr().out == "threads: 1\n"
    info = torch.__config__.parallel_info()
    assert "at::get_num_threads() : 1\n" in info


def test_the_variable_holds_for_a_child():
    code = "import torch; print(torch.get_num_threads())"
    assert in_a_child(code, OMP_NUM_THREADS="1") == ["1"]


def test_the_variable_is_read_only_at_the_import():
    code = """
import os, torch
before = torch.get_num_threads()
os.environ["OMP_NUM_THREADS"] = str(before + 1)
print(torch.get_num_threads() == before)
torch.set_num_threads(before + 1)
print(torch.get_num_threads() == before + 1)
"""
    assert in_a_child(code) == ["True", "True"]


def test_a_thread_that_has_computed_keeps_its_number():
    torch.set_num_threads(3)
    with ThreadPoolExecutor(max_workers=1) as pool:
        assert pool.submit(torch.get_num_threads).result() == 3
        torch.set_num_threads(2)
        assert pool.submit(torch.get_num_threads).result() == 3
    with ThreadPoolExecutor(max_workers=1) as pool:
        assert pool.submit(torch.get_num_threads).result() == 2


def get_threads(_):
    return torch.get_num_threads()


def two(_):
    torch.set_num_threads(2)


def test_a_worker_has_one_thread_unless_it_sets_another():
    torch.set_num_threads(2)
    loader = DataLoader([0], num_workers=1, collate_fn=get_threads)
    assert list(loader) == [1]
    assert torch.get_num_threads() == 2
    loader = DataLoader([0], num_workers=1, collate_fn=get_threads, worker_init_fn=two)
    assert list(loader) == [2]


def test_interop_threads_are_set_once():
    code = """
import torch
torch.set_num_interop_threads(3)
print(torch.get_num_interop_threads())
try:
    torch.set_num_interop_threads(3)
except RuntimeError as error:
    print(error)
"""
    first, *message = in_a_child(code)
    assert first == "3"
    with raises_as_documented(PAGE, "RuntimeError: Error: cannot set number"):
        raise RuntimeError(" ".join(message))


@pytest.mark.parametrize("number", [0, -1])
def test_at_least_one(number):
    with raises_as_documented(PAGE, "RuntimeError: set_num_threads expects a pos"):
        torch.set_num_threads(number)


def test_a_whole_number():
    with raises_as_documented(PAGE, "RuntimeError: set_num_threads expects an int"):
        torch.set_num_threads(4 / 2)
