"""What a test may not leave behind in pytest's own process, where it meets others."""

import atexit
import gc
import multiprocessing
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path

import psutil
import torch

from cookbook.running.child import GUARD, LOGS
from cookbook.running.runner import KEEPS_GROUP, read

SECONDS = 2.0  # for threads and processes that are just ending
THREADS = Path("/proc/self/task")  # Linux has it
SETTINGS = {
    "the default dtype": torch.get_default_dtype,
    "the default device": torch.get_default_device,
    "the number of threads": torch.get_num_threads,
    "whether gradients are recorded": torch.is_grad_enabled,
    "the deterministic mode": torch.get_deterministic_debug_mode,
    "cudnn.benchmark": lambda: torch.backends.cudnn.benchmark,
    "the start method": lambda: (
        multiprocessing.get_start_method(allow_none=True)
        or multiprocessing.get_all_start_methods()[0]  # the default
    ),
    "the working folder": os.getcwd,
}
# What libraries set by themselves, once, when they are first used.
UNASKED = {"PYTEST_CURRENT_TEST", "TORCHINDUCTOR_CACHE_DIR", "NO_MKDOCS_2_WARNING"}
# What Python, torch and tqdm start once, to end with the process; the threads of
# fixtures that serve many tests, the site's server and the runner of blocks.
LASTING = ("multiprocessing.resource_tracker", "torch_shm_manager", "tqdm_monitor")
LASTING += ("process_request_thread", "cookbook-runner")
UNDO = "undo it by monkeypatch or a fixture, or do it in a process of its own"
END = "end it in the test"
OWN = "open it in a process of its own: helpers.run_python"
FREE = "hold its DDP model in a function, import before the group, destroy the group"


def watch():
    """Let each Python that tests start note at its end a process group it has left.

    At the exit of Python a thread of such a group may end the process.
    """
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ.update({"PYTHONPATH": str(GUARD.parent), LOGS: folder})


def noted(test: Path) -> list[str]:
    """What has been noted since the last call; sharded models may keep a group."""
    log = Path(os.environ[LOGS], "left.log")
    lines = set(read(log).splitlines())
    log.unlink(missing_ok=True)
    if KEEPS_GROUP.search(test.read_text("utf-8")):
        return []
    return [f"a process that ended with {line}: {FREE}" for line in sorted(lines)]


class Before:
    """What there was before a test, to compare with what there is after it."""

    def __init__(self):
        self.settings = {name: get() for name, get in SETTINGS.items()}
        self.environment = environment()
        self.threads = set(threading.enumerate())
        self.children = children()
        self.native = native_threads()

    def left(self) -> list[str]:
        """What the test has left, each with what to do about it."""
        found = [
            f"{name} is {get()}, was {self.settings[name]}: {UNDO}"
            for name, get in SETTINGS.items()
            if get() != self.settings[name]
        ]
        after = environment()
        found += [
            f"the environment's {name} is {after.get(name)!r}, "
            f"was {self.environment.get(name)!r}: {UNDO}"
            for name in sorted(after.keys() | self.environment.keys())
            if after.get(name) != self.environment.get(name)
        ]
        found += self._groups()
        if self._running():  # garbage may hold them
            gc.collect()
        until = time.monotonic() + SECONDS
        while (running := self._running()) and time.monotonic() < until:
            time.sleep(0.01)
        return found + [f"{one}: {END}" for one in running]

    def _groups(self) -> list[str]:
        """Process groups: gloo's threads show those that are only garbage by now."""
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return [f"a process group: {OWN}"]
        started = {thread_name(one) for one in native_threads() - self.native}
        return [f"a thread of {n}: {OWN}" for n in sorted(started) if "gloo" in n]

    def _running(self) -> list[str]:
        threads = [t for t in threading.enumerate() if t not in self.threads]
        running = [
            *(f"the thread {thread.name}" for thread in threads),
            *(f"the process {name(c)}" for c in children() - self.children),
        ]
        return [r for r in running if not any(lasting in r for lasting in LASTING)]


def environment() -> dict[str, str]:
    return {name: os.environ[name] for name in os.environ.keys() - UNASKED}


def children() -> set[psutil.Process]:
    """The processes that this one has started and that run."""
    try:  # psutil takes milliseconds
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return set()
    return {child for child in psutil.Process().children() if name(child)}


def name(process: psutil.Process) -> str:
    """Its command line; empty where it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def native_threads() -> set[Path]:
    return set(THREADS.iterdir()) if THREADS.exists() else set()


def thread_name(thread: Path) -> str:
    try:
        return (thread / "comm").read_text().strip()
    except OSError:  # it has ended
        return ""
