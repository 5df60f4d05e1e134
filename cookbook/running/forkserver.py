"""Run each block in a fresh process, without importing torch each time.

    python -W error -m cookbook.running.forkserver CONTROL_FD LANES [SNIPPET...]

The server imports torch once and never touches it again, so that a fork of it
is as good as a new interpreter. It forks itself into *lanes*, and replaces a
lane that dies. A lane forks one block at a time. A block can crash, hang, or
leave workers behind: its lane kills whatever it started, and answers.

A client sends a socket over CONTROL_FD for each block. The lane that takes it
says so, in a JSON line: ``lane`` (the process to kill where no answer comes) and
``level`` (how far blocks are shut in). Request, one JSON line: ``argv`` (a .py file
to run as ``__main__``, or a command), ``files`` (to copy into its folder), ``fonts``
(Matplotlib's list of them, or null), ``env``, ``logs`` (a folder for ``stdout``,
``stderr`` and ``end``, a file written when a script has reached its end, and
``picture.svg``), ``room`` (a folder for all else that it writes, where it gets no
room of its own), ``timeout`` (seconds). Answer, one JSON line: ``exit`` (code, or
minus the signal; null after a time-out), ``seconds``.

The tests of the snippets named run in a fork, too, beside the lanes and free as under
pytest. What came of each snippet's is a JSON line on stdout, as ``mutation`` says it.
"""

import atexit
import builtins
import contextlib
import faulthandler
import gc
import importlib
import json
import os
import random
import resource
import runpy
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import types
import warnings
import weakref
from collections.abc import Collection
from pathlib import Path

import psutil

from cookbook.running import GUARD, PICTURE, namespaces

MAX_FILE_BYTES = 1 << 30
MAX_DATA_BYTES = 4 << 30  # private memory of one process
KILL_SECONDS = 5  # to kill what starts new processes all the time
POLL_SECONDS = 0.5
# What torch imports when a function is called, for a second or more of CPU time.
LAZY = {"optim": "torch._dynamo", "assert_close": "torch.distributed.tensor"}
unraisable: list[type] = []


def start_tests(control: socket.socket, snippets: list[Path]) -> int:
    """Fork a process that runs the tests of snippets, if any; its id."""
    pid = os.fork() if snippets else os.getpid()
    if pid:
        os.dup2(2, 1)  # stdout is its own, and ends with it
        return pid
    namespaces.die_with_parent()
    control.close()
    sys.warnoptions.clear()  # -W error; pytest has filters of its own
    warnings.resetwarnings()
    try:
        from cookbook.running import mutation  # and pytest, which blocks must not find

        mutation.prove(snippets)
    except BaseException:
        traceback.print_exc()
    os._exit(0)


def supervise(count: int, level: int, tests: int) -> None:
    """Keep the lanes up until the client is gone; return only in a new lane."""
    lanes = set()
    client_is_gone = False
    while not client_is_gone:
        while len(lanes) < count:
            lane = os.fork()
            if lane == 0:
                return
            lanes.add(lane)
        client_is_gone, _, _ = select.select([sys.stdin], [], [], POLL_SECONDS)
        gone = {lane for lane in lanes if os.waitpid(lane, os.WNOHANG)[0]}
        lanes -= gone
        # Outside of a namespace, a block that traces its lane hides its end.
        if gone or level != namespaces.ALL:
            kill_descendants(spared={*lanes, tests})  # what a lane has lost
    kill_descendants()
    os._exit(0)


def serve(control: socket.socket, lane: int, level: int) -> dict:
    """Answer requests one by one; return only in a block, with its request."""
    signal.signal(signal.SIGALRM, raise_timeout)
    while True:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not descriptors:  # the client is gone
            os._exit(0)
        with socket.socket(fileno=descriptors[0]) as connection:
            send(connection, {"lane": lane, "level": level})
            request = json.loads(connection.makefile().readline())
            started = time.perf_counter()
            pid = os.fork()
            if pid == 0:
                return request
            code = wait(pid, request["timeout"])
            seconds = time.perf_counter() - started
            kill_rest(pid)
            reap_rest()
            send(connection, {"exit": code, "seconds": seconds})


def send(connection: socket.socket, message: dict) -> None:
    """Send one line; the client may not wait for it any more."""
    with contextlib.suppress(ConnectionError):
        connection.sendall(json.dumps(message).encode() + b"\n")


def raise_timeout(signum: int, frame: types.FrameType | None) -> None:
    """Signal handler: interrupt the wait for a block."""
    raise TimeoutError


def wait(pid: int, timeout: float) -> int | None:
    """Return the block's exit code; None where it timed out."""
    signal.setitimer(signal.ITIMER_REAL, timeout)
    try:
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status)
    except TimeoutError:
        kill_rest(pid)
        os.waitpid(pid, 0)
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def is_first() -> bool:
    """Whether this lane is the first process of a namespace, with all others below."""
    return os.getpid() == 1


def kill_rest(block: int) -> None:
    """Kill, at once, all there is in this namespace, or else in the block's group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if is_first():
            os.kill(-1, signal.SIGKILL)
        else:
            os.killpg(block, signal.SIGKILL)


def reap_rest() -> None:
    """Wait until the block's last process is gone."""
    if not is_first():
        kill_descendants()
        return
    with contextlib.suppress(ChildProcessError):  # nobody left
        while True:
            os.waitpid(-1, 0)


def kill_descendants(spared: Collection[int] = ()) -> None:
    """Kill and reap all that this process started, however deep, but ``spared``.

    By groups: a process that only forks and leaves is in no list for long.
    """
    deadline = time.monotonic() + KILL_SECONDS
    while time.monotonic() < deadline:
        children = psutil.Process().children()
        children = [child for child in children if child.pid not in spared]
        if not children:
            return
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                for process in [*child.children(recursive=True), child]:
                    kill_with_group(process.pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child.pid, os.WNOHANG)


def kill_with_group(pid: int) -> None:
    """Kill a process, and its group where that is not this process's own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        group = os.getpgid(pid)
        if group == os.getpgrp():
            os.kill(pid, signal.SIGKILL)
        else:
            os.killpg(group, signal.SIGKILL)


def enter(request: dict, level: int) -> None:
    """Give this process the block's session, streams, folders and limits."""
    os.setsid()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    logs, room = Path(request["logs"]), Path(request["room"])
    if level == namespaces.ALL:
        namespaces.enter_room(logs)
        room = namespaces.ROOM
    for descriptor, path, mode in (
        (0, Path(os.devnull), "rb"),
        (1, logs / "stdout", "wb"),
        (2, logs / "stderr", "wb"),
    ):
        with path.open(mode) as stream:
            os.dup2(stream.fileno(), descriptor)
    cwd, home, temporary = (room / name for name in ("cwd", "home", "tmp"))
    for folder in (cwd, home, temporary):
        folder.mkdir()
    if request["fonts"]:  # a block that draws would take seconds to list them
        cache = home / ".cache/matplotlib"
        cache.mkdir(parents=True)
        shutil.copy(request["fonts"], cache)
    for file in request["files"]:
        shutil.copy(file, cwd)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(request["env"], HOME=str(home), TMPDIR=str(temporary))
    tempfile.tempdir = None  # the server's
    # Inductor notes its folder there: that of a test which compiled before.
    os.environ.pop("TORCHINDUCTOR_CACHE_DIR", None)
    limit(resource.RLIMIT_FSIZE, MAX_FILE_BYTES)
    if not Path("/dev/nvidiactl").exists():  # CUDA maps more than it uses
        limit(resource.RLIMIT_DATA, MAX_DATA_BYTES)


def limit(what: int, most: int) -> None:
    """Lower one of this process's limits, which may be lower already."""
    _, hard = resource.getrlimit(what)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


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
        picture = Path(script).with_suffix(".svg").name
        if Path(picture).is_file():
            shutil.copy(picture, end.with_name(PICTURE))
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
    atexit._run_exitfuncs()
    sys.modules["__main__"].__dict__.clear()  # finds files left open
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or int(bool(unraisable)))


def note_unraisable(error: object) -> None:
    """Hook: an error in a finalizer, such as a file never closed, counts too."""
    sys.__unraisablehook__(error)
    unraisable.append(error.exc_type)


def import_lazy(files: list[Path]) -> None:
    """Import what torch imports itself when these files run."""
    text = "".join(file.read_text("utf-8", "replace") for file in files)
    for word, module in LAZY.items():
        if word in text:
            importlib.import_module(module)


def preload(snippets: list[Path]) -> None:
    """Import torch, and make leaving a fork of this process cheap.

    Nothing else: what few blocks import would make every fork slower. The few beside
    their tests share with them what they want.
    """
    import torch  # noqa: F401

    import_lazy(snippets)

    # A collection in a block would otherwise copy every page torch lives on,
    gc.freeze()
    # and its exit would unregister each of torch's operators, one by one.
    for finalizer in weakref.finalize._registry:
        finalizer.atexit = False


def main() -> None:
    """Serve; in a forked block, run what was asked, then exit as usual."""
    control = socket.socket(fileno=int(sys.argv[1]))
    snippets = [Path(name) for name in sys.argv[3:]]
    preload(snippets)
    level = namespaces.granted()
    namespaces.adopt_orphans()
    tests = start_tests(control, snippets)
    supervise(int(sys.argv[2]), level, tests)
    lane = os.getpid()  # as the client knows it
    namespaces.enter_lane(level)
    namespaces.adopt_orphans()
    request = serve(control, lane, level)
    control.close()
    enter(request, level)
    argv = request["argv"]
    if argv[0].endswith(".py"):
        run_as_main(argv[0], Path(request["logs"], "end"))
    else:
        os.execvpe(argv[0], argv, os.environ)


if __name__ == "__main__":
    main()
