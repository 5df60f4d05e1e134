"""A time limit for each test: its stacks, and those of what it started, are shown.

A test that hangs in Python fails, with all it had started ended. One that hangs in C
ends its process: pytest-xdist replaces it, and goes on with the next test.
"""

import faulthandler
import os
import signal
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests import leftovers

SECONDS = 300.0  # for a test, and as much to set it up and to clean up after it
GRACE = 30.0  # until it is ended in C
stderr_key = pytest.StashKey[int]()  # pytest's own, where what it captures is not


@contextmanager
def limited(item: pytest.Item):
    """End what takes longer, from Python if it can be, else the whole process."""
    before = leftovers.children()

    def stop(signum, frame):
        # Python's handlers run between two lines of it; what hangs in C has none.
        print(stacks(), file=sys.stderr)
        print(end(leftovers.children() - before), file=sys.stderr)
        pytest.fail(f"{item.nodeid} is not done after {SECONDS:g} s")

    handler = signal.signal(signal.SIGALRM, stop)
    faulthandler.dump_traceback_later(
        SECONDS + GRACE, exit=True, file=item.config.stash[stderr_key]
    )
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, handler)


def stacks() -> str:
    """Those of all threads of this process."""
    with tempfile.TemporaryFile("w+") as file:
        faulthandler.dump_traceback(file)
        file.seek(0)
        return file.read()


def end(children: set[psutil.Process]) -> str:
    """End processes and what they started; Python's write their stacks before."""
    family = [*children]
    for child in children:
        with suppress(psutil.NoSuchProcess):
            family += child.children(recursive=True)
    pipes = {stderr(process) for process in family}
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGABRT)  # see PYTHONFAULTHANDLER
    _, alive = psutil.wait_procs(family, timeout=5)
    for process in alive:
        process.kill()
    return "".join(unread(pipe) for pipe in pipes if pipe.startswith("pipe:"))


def stderr(process: psutil.Process) -> str:
    with suppress(OSError):
        return str(Path(f"/proc/{process.pid}/fd/2").readlink())
    return ""


def unread(pipe: str) -> str:
    """What waits in a pipe that this process reads."""
    text = b""
    for file in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # not ours any more, or the end that one writes to
            if str(file.readlink()) == pipe:
                os.set_blocking(int(file.name), False)
                text += os.read(int(file.name), 1 << 20)
    return text.decode(errors="replace")
