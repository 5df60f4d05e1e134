"""Run each block in a fresh process, without importing torch each time.

    python -W error -m cookbook.running.server SOCKET

The server imports torch once and never uses it, so that a fork of it is as good as a
new interpreter. For each request it forks a watcher; that forks the block's process
(``child.py``), waits for it, and ends what the block has left.

Request, one JSON line: ``argv`` (a snippet, or a command), ``fresh`` (run a snippet by
a new interpreter), ``files`` (to copy into its folder), ``env``, ``folder`` (for all
that it writes: ``logs``, ``cwd``, ``home``, ``tmp``), ``timeout`` (seconds). Answer,
one JSON line: ``exit`` (code, or minus the signal; null after a time-out), ``seconds``
(of CPU, of all its processes), ``left`` (the command of each process that outlived it).
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
import weakref
from socketserver import ForkingMixIn, StreamRequestHandler, UnixStreamServer

import psutil

from cookbook.running import child

GRACE = 5.0  # seconds that a helper process may take to notice that its block is gone
POLL = 0.002
# torch imports them when a block first makes an optimizer or compares tensors.
PRELOADED = ("torch", "torch._dynamo", "torch.distributed.tensor")
PR_SET_CHILD_SUBREAPER = 36  # from <sys/prctl.h>


def preload() -> None:
    """Import torch, and make leaving a fork of this process cheap."""
    for module in PRELOADED:
        importlib.import_module(module)
    gc.freeze()  # else a collection in a block copies every page torch lives on
    for finalizer in weakref.finalize._registry:
        finalizer.atexit = False  # else torch's operators are unregistered one by one


class Server(ForkingMixIn, UnixStreamServer):
    """Forks a watcher for each request, and ends all when its client is gone."""

    def service_actions(self) -> None:
        super().service_actions()
        if select.select([sys.stdin], [], [], 0)[0]:
            end_all()
            os._exit(0)


class Watcher(StreamRequestHandler):
    """Runs one block, and answers what came of it."""

    def handle(self) -> None:
        adopt_orphans()
        request = json.loads(self.rfile.readline())
        block = os.fork()
        if block == 0:
            os.close(self.request.detach())  # else the client waits for the block, too
            child.run(request)
        answer = watch(block, request["timeout"])
        self.wfile.write(f"{json.dumps(answer)}\n".encode())


def watch(block: int, timeout: float) -> dict:
    """Wait for a block, end what it started, and say what came of it."""
    deadline = time.monotonic() + timeout
    code, left = None, []
    while code is None and time.monotonic() < deadline:
        pid, status = os.waitpid(block, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if pid else time.sleep(POLL)
    if code is None:
        show_stacks()
    else:
        left = outliving()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(block, signal.SIGKILL)  # where nobody adopts orphans
    end_all()
    return {"exit": code, "seconds": cpu_seconds(), "left": left}


def cpu_seconds() -> float:
    """What all processes that this one has waited for, and theirs, took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def any_left() -> bool:
    """Whether anything still runs of what this process started; reaps what does not."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def outliving() -> list[str]:
    """The commands of the processes that outlive their block."""
    deadline = time.monotonic() + GRACE
    while any_left():
        if time.monotonic() > deadline:
            return [command(process) for process in descendants()]
        time.sleep(POLL)
    return []


def command(process: psutil.Process) -> str:
    """A process's command line; its number where it has just ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return f"process {process.pid}"


def descendants() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def send(number: int) -> None:
    """Send a signal to all that this process started."""
    for process in descendants():
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def show_stacks() -> None:
    """Have each Python of a block that hangs write its stacks to stderr, and die."""
    send(signal.SIGABRT)  # faulthandler answers it
    psutil.wait_procs(descendants(), GRACE)


def end_all() -> None:
    """Kill and reap all that this process started; a killed one may take its time."""
    deadline = time.monotonic() + GRACE
    while any_left() and time.monotonic() < deadline:
        send(signal.SIGKILL)
        time.sleep(POLL)


def adopt_orphans() -> None:
    """On Linux, become the parent of descendants whose own parent has died."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def main() -> None:
    preload()
    with Server(sys.argv[1], Watcher) as server:
        adopt_orphans()  # those of a watcher that its block has killed
        server.serve_forever()


if __name__ == "__main__":
    main()
