"""Refuse network access; note which lines ran, and what is left, in a block's Pythons.

The fork server loads this file into each block's process. A program that the
block starts (torchrun, a spawned worker) meets it as ``sitecustomize``, since
the runner puts this folder on PYTHONPATH. Standard library only.
"""

import atexit
import builtins
import ipaddress
import os
import socket
import sys
import threading
from contextlib import suppress

LOGS = os.environ.get("COOKBOOK_LOGS")  # now: a block may clear its environment
TRACED = os.environ.get("COOKBOOK_TRACED")  # the file whose lines are noted
TASKS = "/proc/self/task"
WATCHDOG = "watchdog"  # a thread of this name is meant to last to the end
LOOKUPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
SENDS = {"socket.connect", "socket.sendto", "socket.sendmsg"}


def is_local(host: object) -> bool:
    """Whether a host name or address stays on this machine."""
    if isinstance(host, bytes):
        host = host.decode()
    if host in (None, "", "localhost", socket.gethostname()):
        return True
    try:
        address = ipaddress.ip_address(str(host).partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def refuse_network(event: str, args: tuple) -> None:
    """Audit hook: record and refuse a look-up or connection to elsewhere."""
    if event in LOOKUPS:
        host = args[0]
    elif event in SENDS and isinstance(args[1], tuple):  # else a path, or bound
        host = args[1][0]
    else:
        return
    if is_local(host):
        return
    # Recorded too: a snippet that swallows the error still fails.
    note("network", host)
    raise PermissionError(f"no network in recipes: tried to reach {host}")


def note(log: str, what: str) -> None:
    """Add a line to one of the run's logs."""
    with open(f"{LOGS}/{log}.log", "a") as file:  # noqa: PTH123 - pathlib is slow
        file.write(f"{what}\n")


def note_left() -> None:
    """At the end of a process: the threads and process groups that it has not ended."""
    for thread in threading.enumerate():
        meant = thread is threading.main_thread() or thread.name == WATCHDOG
        if not meant and (line := line_of(thread)):
            note("left", f"the thread {thread.name!r}, at line {line}")
    if any("gloo" in name for name in native_threads()):
        note("left", "a process group, whose threads still run")


def line_of(thread: threading.Thread) -> int | None:
    """The line of the snippet at which a thread is; None in a library's own threads."""
    frame = sys._current_frames().get(thread.ident)
    while frame and frame.f_code.co_filename != TRACED:
        frame = frame.f_back
    return frame and frame.f_lineno


def native_threads() -> list[str]:
    """The names of this process's threads, those of libraries included; on Linux."""
    names = []
    for task in os.listdir(TASKS) if os.path.isdir(TASKS) else []:  # noqa: PTH112, PTH208
        with suppress(OSError), open(f"{TASKS}/{task}/comm") as file:  # noqa: PTH123
            names.append(file.read())  # else it has ended just now
    return names


class Trace:
    """Notes which lines of one file are reached, and which asserts fail there.

    An assert that fails in a thread or a worker, or whose error is swallowed, ends
    no process with an error; so each is noted where it happens.
    """

    def __init__(self, file: str):
        self.file, self.seen = file, set()
        self.importing = builtins.__import__

    def start(self) -> None:
        builtins.__import__ = self.untraced_import
        threading.settrace(self.enter)
        sys.settrace(self.enter)

    def untraced_import(self, name: str, *args, **kwargs):
        """Import as Python does; traced, torch's import takes a third more time."""
        before, own = sys.gettrace(), f"/{name}.py" in self.file  # its lines count
        # Two threads cannot set a trace function at the same moment.
        if own or before is None or threading.active_count() > 1:
            return self.importing(name, *args, **kwargs)
        sys.settrace(None)
        try:
            return self.importing(name, *args, **kwargs)
        finally:
            sys.settrace(before)

    def enter(self, frame, event: str, arg: object):
        """Trace function of each call: only those into the file are followed."""
        return self.follow if frame.f_code.co_filename == self.file else None

    def follow(self, frame, event: str, arg: object):
        if event == "line":
            self.note(str(frame.f_lineno))
        elif event == "exception" and issubclass(arg[0], AssertionError):
            _, _, traceback = arg
            if not traceback.tb_next:  # raised here, not in what is called
                self.note(f"failed {frame.f_lineno}")
        return self.follow

    def note(self, what: str) -> None:
        if what not in self.seen:
            self.seen.add(what)
            note("trace", what)


if LOGS:
    sys.addaudithook(refuse_network)
    if __name__ == "sitecustomize":  # else the fork server's child calls it
        atexit.register(note_left)
if TRACED:
    Trace(TRACED).start()
