"""Run each block in a fresh process, without importing torch each time.

    python -W error -m cookbook.running.server SOCKET WORKERS

The server imports torch once and never uses it, so that a fork of it is as good as a
new interpreter. It forks itself into workers; each takes one block at a time from the
socket, forks a child for it (``child.py``), waits, and ends what the block has left.

Request, one JSON line: ``argv`` (a snippet, or a command), ``fresh`` (run a snippet by
a new interpreter), ``files`` (to copy into its folder), ``env``, ``folder`` (for all
that it writes: ``logs``, ``cwd``, ``home``, ``tmp``), ``timeout`` (seconds). Answer, one JSON line: ``exit`` (code, or
minus the signal; null after a time-out), ``seconds`` (of CPU, of all its processes),
``left`` (the command of each process that outlived it).
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
import socket
import sys
import time
import weakref

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


def keep_workers(count: int) -> None:
    """Keep the workers up until the client is gone; return only in a new worker."""
    adopt_orphans()
    workers = set()
    while not select.select([sys.stdin], [], [], 0.5)[0]:
        workers -= {worker for worker in workers if os.waitpid(worker, os.WNOHANG)[0]}
        while len(workers) < count:
            worker = os.fork()
            if worker == 0:
                return
            workers.add(worker)
    end_all()
    os._exit(0)


def serve(listener: socket.socket) -> dict:
    """Answer requests; return only in a block's process, with its request."""
    adopt_orphans()
    while True:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(ConnectionError):
            request = json.loads(connection.makefile().readline())
            block = os.fork()
            if block == 0:
                return request
            answer = json.dumps(watch(block, request["timeout"]))
            connection.sendall(f"{answer}\n".encode())


def watch(block: int, timeout: float) -> dict:
    """Wait for a block, end what it started, and say what came of it."""
    before, deadline = cpu_seconds(), time.monotonic() + timeout
    code, left = None, []
    while code is None and time.monotonic() < deadline:
        pid, status = os.waitpid(block, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if pid else time.sleep(POLL)
    if code is None:
        show_stacks()
    else:
        left = outliving()
    kill_all(block)
    return {"exit": code, "seconds": cpu_seconds() - before, "left": left}


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


def show_stacks() -> None:
    """Have each Python of a block that hangs write its stacks to stderr, and die."""
    processes = descendants()
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGABRT)  # faulthandler answers it
    psutil.wait_procs(processes, GRACE)


def kill_all(block: int) -> None:
    """Kill and reap all that a block started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(block, signal.SIGKILL)  # where nobody adopts orphans
    end_all()


def end_all() -> None:
    """Kill and reap all that this process started; a killed one may take its time."""
    deadline = time.monotonic() + GRACE
    while any_left() and time.monotonic() < deadline:
        kill(descendants())
        time.sleep(POLL)


def kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def adopt_orphans() -> None:
    """On Linux, become the parent of descendants whose own parent has died."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def main() -> None:
    """Serve; in a forked block, run what was asked."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(sys.argv[1])
        preload()
        listener.listen()
        keep_workers(int(sys.argv[2]))
        request = serve(listener)
    child.run(request)


if __name__ == "__main__":
    main()
