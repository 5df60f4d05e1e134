"""Run each block in a fresh process, without importing torch each time.

    python -W error -m cookbook.running.forkserver LISTENER_FD LANES

The server imports torch once and never touches it again, so that a fork of it
is as good as a new interpreter. It forks itself into *lanes*, which take
requests from one socket; a lane forks one block at a time. A block can crash,
hang, or leave workers behind: its lane kills whatever it started, and answers.

Request, one JSON line: ``argv`` (a .py file to run as ``__main__``, or a
command), ``cwd``, ``env``, ``stdout`` and ``stderr`` (files), ``end`` (a file
written when a script has reached its end), ``timeout`` (seconds). Answer, one
JSON line: ``exit`` (code, or minus the signal; null after a time-out),
``seconds``, ``max_rss`` (bytes, of the block's process), ``offline`` (whether
the system kept it off the network).
"""

import atexit
import builtins
import contextlib
import ctypes
import faulthandler
import gc
import json
import os
import random
import resource
import runpy
import select
import signal
import socket
import sys
import threading
import time
import types
import weakref
from pathlib import Path

import psutil

from cookbook.running import offline

GUARD = Path(__file__).parent / "guard" / "sitecustomize.py"
PR_SET_CHILD_SUBREAPER = 36
MAX_FILE_BYTES = 1 << 30
GPU_LOG = "COOKBOOK_GPU_LOG"
unraisable: list[type] = []


def serve(listener: socket.socket, is_offline: bool) -> dict:
    """Answer requests one by one; return only in a block, with its request."""
    signal.signal(signal.SIGALRM, raise_timeout)
    signal.signal(signal.SIGTERM, leave)
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:  # closed: the client is gone
            os._exit(0)
        try:
            connection, _ = listener.accept()
        except BlockingIOError:  # another lane was faster
            continue
        with connection:
            request = json.loads(connection.makefile().readline())
            started = time.perf_counter()
            pid = os.fork()
            if pid == 0:
                return request
            code, max_rss = wait(pid, request["timeout"])
            seconds = time.perf_counter() - started
            kill_group(pid)
            kill_descendants()
            answer = {
                "exit": code,
                "seconds": seconds,
                "max_rss": max_rss,
                "offline": is_offline,
            }
            with contextlib.suppress(BrokenPipeError):
                connection.sendall(json.dumps(answer).encode() + b"\n")


def raise_timeout(signum: int, frame: types.FrameType | None) -> None:
    """Signal handler: interrupt the wait for a block."""
    raise TimeoutError


def leave(signum: int, frame: types.FrameType | None) -> None:
    """Signal handler: the client will not wait for the block that runs."""
    kill_descendants()
    os._exit(0)


def wait(pid: int, timeout: float) -> tuple[int | None, int]:
    """Return the block's exit code (None: timed out) and peak memory, bytes."""
    signal.setitimer(signal.ITIMER_REAL, timeout)
    try:
        _, status, usage = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(status)
    except TimeoutError:
        os.kill(pid, signal.SIGKILL)
        _, _, usage = os.wait4(pid, 0)
        code = None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return code, usage.ru_maxrss * 1024


def adopt_orphans() -> None:
    """On Linux, become the parent of descendants whose own parent has died."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_group(group: int) -> None:
    """Kill what a block left in its session; all, where none adopts orphans."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def kill_descendants() -> None:
    """Kill and reap all that a block left behind, however deep."""
    with contextlib.suppress(ChildProcessError):  # nobody left
        while True:
            for child in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.kill()
            os.waitpid(-1, 0)


def enter(request: dict) -> None:
    """Give this process the block's session, streams, folder and limits."""
    os.setsid()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)
    for descriptor, path in ((1, request["stdout"]), (2, request["stderr"])):
        with Path(path).open("wb") as stream:
            os.dup2(stream.fileno(), descriptor)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))


def run_as_main(script: str, end: Path) -> None:
    """Execute a file as ``python script`` would, in this process."""
    runpy.run_path(str(GUARD))
    faulthandler.enable()  # a crash names its line
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=script, __builtins__=builtins)
    sys.modules["__main__"] = main
    sys.argv[:] = [script]
    sys.path[0] = str(Path(script).parent)
    sys.unraisablehook = note_unraisable
    random.seed()  # every fork would draw the server's numbers
    code = 0
    try:
        exec(compile(Path(script).read_bytes(), script, "exec"), main.__dict__)
        end.touch()
    except SystemExit as leave:
        code = exit_code(leave)
    except BaseException as error:
        own = error.__traceback__.tb_next  # without this frame
        sys.excepthook(type(error), error.with_traceback(own), own)
        code = 1
    exit_now(code)


def exit_code(leave: SystemExit) -> int:
    """The process's exit code for ``sys.exit(x)``; a message goes to stderr."""
    if leave.code is None:
        return 0
    if isinstance(leave.code, int):
        return leave.code
    print(leave.code, file=sys.stderr)
    return 1


def exit_now(code: int) -> None:
    """Leave as the interpreter does, except for its last step.

    Tearing down every module of torch takes a forked process a second, which
    a new interpreter would not spend.
    """
    sys.settrace(None)
    threading._shutdown()  # waits for threads that are not daemons
    note_gpu_memory()
    atexit._run_exitfuncs()
    sys.modules["__main__"].__dict__.clear()  # finds files left open
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or int(bool(unraisable)))


def note_unraisable(error: object) -> None:
    """Hook: an error in a finalizer, such as a file never closed, counts too."""
    sys.__unraisablehook__(error)
    unraisable.append(error.exc_type)


def note_gpu_memory() -> None:
    """Leave the block's peak of allocated GPU memory, in bytes, for its record."""
    cuda = sys.modules["torch"].cuda
    if cuda.is_initialized():
        Path(os.environ[GPU_LOG]).write_text(str(cuda.max_memory_allocated()))


def preload() -> None:
    """Import torch, and make leaving a fork of this process cheap.

    Nothing else: what few blocks import would make every fork slower.
    """
    import torch  # noqa: F401

    # A collection in a block would otherwise copy every page torch lives on,
    gc.freeze()
    # and its exit would unregister each of torch's operators, one by one.
    for finalizer in weakref.finalize._registry:
        finalizer.atexit = False


def fork_lanes(count: int) -> None:
    """Return in each lane; the server itself only waits for them to leave."""
    for _ in range(count):
        if os.fork() == 0:
            return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # meant for the lanes
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    os._exit(0)


def main() -> None:
    """Serve; in a forked block, run what was asked, then exit as usual."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    listener.setblocking(False)
    preload()
    is_offline = offline.can_leave()
    fork_lanes(int(sys.argv[2]))
    if is_offline:
        offline.leave_network()
    adopt_orphans()
    request = serve(listener, is_offline)
    listener.close()
    enter(request)
    argv = request["argv"]
    if argv[0].endswith(".py"):
        run_as_main(argv[0], Path(request["end"]))
    else:
        os.execvpe(argv[0], argv, os.environ)


if __name__ == "__main__":
    main()
