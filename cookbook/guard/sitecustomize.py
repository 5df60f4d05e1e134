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
EVENTS = {"socket.connect", "socket.sendto", "socket.getaddrinfo"}


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
    if event not in EVENTS:
        return
    target = args[0] if event == "socket.getaddrinfo" else args[1]
    host = target[0] if isinstance(target, tuple) else target
    is_path = event != "socket.getaddrinfo" and not isinstance(target, tuple)
    if is_path or is_local(host):
        return
    # Recorded too: a snippet that swallows the error still fails.
    with open(os.environ[LOG], "a") as log:
        log.write(f"{host}\n")
    raise PermissionError(f"no network in recipes: tried to reach {host}")


if LOG in os.environ:
    sys.addaudithook(refuse_network)
