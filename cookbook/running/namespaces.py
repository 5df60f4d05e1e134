"""Shut a block in: no network, no other process, nothing to write to but its own.

By Linux's namespaces, which also hold for programs that are not Python. A *lane*
moves into namespaces for the network and, where that is granted, for processes,
whose first process it then is: what it kills is all that a block started. A
block moves on to one for mounts. Where the kernel does not grant them, only the
Python in guard/ is left to refuse the network.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
import tempfile
from pathlib import Path

# How far a system lets blocks be shut in.
NOTHING, NETWORK, ALL = range(3)
ROOM = Path("/dev/shm")  # where a block may write; sockets need a short path
ROOM_SIZE = "1g"  # shared memory and files together

# From <sched.h>, <linux/sockios.h>, <linux/if.h>, <linux/mount.h>, <sys/prctl.h>.
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
SIOCSIFFLAGS = 0x8914
IFF_UP, IFF_RUNNING = 1, 64
MS_BIND, MS_PRIVATE = 1 << 12, 1 << 18
MOUNT_SETATTR = 442  # the number of a system call that the C library may lack
MOUNT_ATTR_RDONLY, AT_FDCWD, AT_RECURSIVE = 1, -100, 0x8000
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
libc = ctypes.CDLL(None, use_errno=True)


def granted() -> int:
    """How far this system goes; tried in children, which keep this process whole."""
    if sys.platform != "linux":
        return NOTHING
    return next((level for level in (ALL, NETWORK) if works(level)), NOTHING)


def works(level: int) -> bool:
    """Whether a child can be shut in this far."""
    pid = os.fork()
    if pid == 0:
        try:
            enter_lane(level)
            if level == ALL:
                enter_room(Path(tempfile.gettempdir()))
                Path(__file__).stat()  # the room may have hidden it
        except OSError:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    return status == 0


def enter_lane(level: int) -> None:
    """Move this process, which must have one thread, to namespaces of its own.

    For all of them the caller goes on as a child: the first of its processes.

    Raises:
        OSError: the system does not allow it; the process may be half moved.
    """
    if level:
        leave_network(CLONE_NEWPID if level == ALL else 0)
    die_with_parent()  # after the move, which would undo it
    if level == ALL:
        first = os.fork()
        if first:
            _, status = os.waitpid(first, 0)
            os._exit(int(status != 0))
        die_with_parent()


def leave_network(flags: int) -> None:
    """Enter user and network namespaces, and those of ``flags``."""
    user, group = os.getuid(), os.getgid()
    call("unshare", CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWUTS | flags)
    own = Path("/proc/self")
    (own / "setgroups").write_text("deny")  # without it, gid_map is refused
    (own / "uid_map").write_text(f"{user} {user} 1")
    (own / "gid_map").write_text(f"{group} {group} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", IFF_UP | IFF_RUNNING)
        fcntl.ioctl(control, SIOCSIFFLAGS, request)
    # Processes that meet under the machine's name must find it here.
    socket.sethostname("localhost")


def enter_room(logs: Path) -> None:
    """Make all files read-only but an empty room of limited size, and the logs."""
    call("unshare", CLONE_NEWNS | CLONE_NEWIPC)
    set_mount("/", MOUNT_ATTR_RDONLY, 0, AT_RECURSIVE)
    mount(b"tmpfs", ROOM, b"tmpfs", 0, f"size={ROOM_SIZE}".encode())
    mount(os.fsencode(logs), logs, None, MS_BIND, None)
    set_mount(logs, 0, MOUNT_ATTR_RDONLY, 0)
    mount(b"proc", "/proc", b"proc", 0, None)  # /proc/<pid> as in this namespace


def mount(source: bytes, target, kind: bytes | None, flags: int, data: bytes | None):
    call("mount", source, os.fsencode(target), kind, ctypes.c_ulong(flags), data)


def set_mount(target, attributes: int, cleared: int, flags: int) -> None:
    """Set and clear attributes of what is mounted there."""
    change = struct.pack("4Q", attributes, cleared, MS_PRIVATE, 0)
    path = os.fsencode(target)
    call("syscall", MOUNT_SETATTR, AT_FDCWD, path, flags, change, len(change))


def die_with_parent() -> None:
    """On Linux, be killed as soon as the parent has died."""
    if sys.platform == "linux":
        call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def adopt_orphans() -> None:
    """On Linux, become the parent of descendants whose own parent has died."""
    if sys.platform == "linux":
        call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def call(name: str, *arguments) -> None:
    """Call a function of the C library; an OSError says what failed."""
    if getattr(libc, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), name)
