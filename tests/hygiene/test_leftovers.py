"""A test that leaves something in pytest's process is refused, by its name."""

import os
import subprocess
import sys

from tests.helpers import ROOT

HEAD = """
import multiprocessing, os, subprocess, sys, threading, time, weakref
import pytest
import torch
import torch.distributed as dist
from tests.conftest import *
"""
# The last of LEFT: nothing can end it for another test. Its threads name themselves
# once they run: the barrier waits for one.
GROUP = 'dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)'
GROUP += "; dist.barrier()"
DRIVER = f"import torch.distributed as dist; {GROUP}; kept = dist.group.WORLD"
LEFT = {
    "destroyed_group": (
        f"{GROUP}; sys.kept = dist.group.WORLD; dist.destroy_process_group()",
        "a thread of pt_gloo_runloop: open it in a process of its own",
    ),
    "thread": (
        "threading.Thread(target=time.sleep, args=[5], name='nap').start()",
        "the thread nap: end it in the test",
    ),
    "child": ("subprocess.Popen(['sleep', '5'])", "the process sleep 5: end it in "),
    "worker": (
        "multiprocessing.Process(target=time.sleep, args=[5], daemon=True).start()",
        "the process ",
    ),
    "dtype": (
        "torch.set_default_dtype(torch.float64)",
        "the default dtype is torch.float64, was torch.float32: undo it by monkeypa",
    ),
    "device": ("torch.set_default_device('meta')", "the default device is meta, was "),
    "threads": ("torch.set_num_threads(7)", "the number of threads is 7, was "),
    "gradients": (
        "torch.set_grad_enabled(False)",
        "whether gradients are recorded is ",
    ),
    "deterministic": (
        "torch.use_deterministic_algorithms(True)",
        "the deterministic mode is 2, was 0",
    ),
    "benchmark": ("torch.backends.cudnn.benchmark = True", "cudnn.benchmark is True, "),
    "start_method": (
        "multiprocessing.set_start_method('spawn', force=True)",
        "the start method is spawn, was fork",
    ),
    "folder": ("os.chdir('/')", "the working folder is /, was "),
    "environment": (
        "os.environ['ANSWER'] = '42'",
        "the environment's ANSWER is '42', was None: undo it by monkeypatch",
    ),
    "driver": (
        f"""subprocess.run([sys.executable, "-c", {DRIVER!r}])""",
        "a process that ended with a process group, whose threads still run: hold ",
    ),
    "group": (GROUP, "a process group: open it in a process of its own"),
}
NOTHING = """
@pytest.fixture(scope="module")
def server():
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    sleep = subprocess.Popen(["sleep", "60"])
    torch.set_num_threads(3)
    yield
    sleep.kill()
    sleep.wait()
    stop.set()
    thread.join()


def test_what_a_wider_fixture_holds(server):
    pass


def test_what_is_undone(monkeypatch, tmp_path):
    monkeypatch.setenv("ANSWER", "42")
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(1)


def test_what_is_just_ending():
    subprocess.Popen(["sleep", "0.2"])
    threading.Thread(target=time.sleep, args=[0.2]).start()


def test_what_garbage_holds():
    data = torch.utils.data.DataLoader([1, 2], num_workers=1, persistent_workers=True)
    data.itself = data
    next(iter(data))
"""


def run(folder, text: str) -> str:
    """What pytest prints of a file of tests."""
    (folder / "test_it.py").write_text(HEAD + text, encoding="utf-8")
    options = ("-p", "no:cacheprovider", "-p", "no:codeblocks", "-W", "ignore", "-rA")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, "test_it.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    ).stdout


def test_what_is_left_is_refused_by_name(tmp_path):
    tests = [f"def test_{name}():\n    {line}\n\n" for name, (line, _) in LEFT.items()]
    printed = run(tmp_path, "\n".join(tests))
    for name, (_, refusal) in LEFT.items():
        _, _, after = printed.partition(f"\ntest_it.py::test_{name} leaves\n")
        assert refusal in after.partition("\n____")[0], f"{name}:\n{printed}"


def test_what_is_not_left_passes(tmp_path):
    printed = run(tmp_path, NOTHING)
    assert "= 4 passed in " in printed, printed
