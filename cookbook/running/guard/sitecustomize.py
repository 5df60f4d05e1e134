"""Refuse network access, and note which lines ran, in every Python of a block.

The fork server loads this file into each block's process. A program that the
block starts (torchrun, a spawned worker) meets it as ``sitecustomize``, since
the runner puts this folder on PYTHONPATH. Standard library only.
"""

import ipaddress
import os
import socket
import sys
import threading

LOG = "COOKBOOK_NETWORK_LOG"
TRACE = "COOKBOOK_TRACE"  # a file to follow, and where to note its lines
LOG_FILE = os.environ.get(LOG)  # now: a block may clear its environment
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
    with open(LOG_FILE, "a") as log:  # noqa: PTH123 - pathlib is slow to import
        log.write(f"{host}\n")
    raise PermissionError(f"no network in recipes: tried to reach {host}")


class Trace:
    """Notes which lines of one file are reached, and which asserts fail there.

    An assert that fails in a thread or a worker, or whose error is swallowed, ends
    no process with an error; so each is noted where it happens.
    """

    def __init__(self, file: str, log: str):
        self.file, self.log, self.seen = file, log, set()

    def start(self) -> None:
        threading.settrace(self.enter)
        sys.settrace(self.enter)

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
            with open(self.log, "a") as log:  # noqa: PTH123
                log.write(f"{what}\n")


if LOG_FILE:
    sys.addaudithook(refuse_network)
if TRACE in os.environ:
    Trace(*os.environ[TRACE].split(os.pathsep)).start()
