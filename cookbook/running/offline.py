"""Take a process off the network, this machine's own addresses excepted.

On Linux, by namespaces of its own: whatever it starts, in any language, finds a
loopback device and nothing else. Where the kernel does not allow that, only the
Python in guard/ is left to refuse.
"""

import ctypes
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path

# From <sched.h>, <linux/sockios.h> and <linux/if.h>.
CLONE_NEWUTS, CLONE_NEWUSER, CLONE_NEWNET = 0x04000000, 0x10000000, 0x40000000
SIOCSIFFLAGS = 0x8914
IFF_UP, IFF_RUNNING = 1, 64


def can_leave() -> bool:
    """Whether the system allows it; tried in a child, which keeps this one whole."""
    if sys.platform != "linux":
        return False
    pid = os.fork()
    if pid == 0:
        try:
            leave_network()
        except OSError:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    return status == 0


def leave_network() -> None:
    """Move this process, which must have one thread, to namespaces of its own.

    Raises:
        OSError: the system does not allow it; the process may be half moved.
    """
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWUTS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    own = Path("/proc/self")
    (own / "setgroups").write_text("deny")  # without it, gid_map is refused
    (own / "uid_map").write_text(f"{user} {user} 1")
    (own / "gid_map").write_text(f"{group} {group} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", IFF_UP | IFF_RUNNING)
        fcntl.ioctl(control, SIOCSIFFLAGS, request)
    # Processes that meet under the machine's name must find it here.
    socket.sethostname("localhost")
