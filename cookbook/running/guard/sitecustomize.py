"""Refuse network access beyond this machine, in every Python of a block.

The fork server loads this file into each block's process. A program that the
block starts (torchrun, a spawned worker) meets it as ``sitecustomize``, since
the runner puts this folder on PYTHONPATH. Standard library only.
"""

import ipaddress
import os
import socket
import sys

LOG = "COOKBOOK_NETWORK_LOG"
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


if LOG_FILE:
    sys.addaudithook(refuse_network)
