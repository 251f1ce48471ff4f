"""TCP ports, the private network of one trial, and the addresses on which a system listens."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import random
import socket
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchbook.declare.system import System
from benchbook.errors import TrialFailed
from benchbook.host.identity import identity
from benchbook.process.spawn import tree
from benchbook.process.wait import until

if TYPE_CHECKING:
    from docker import DockerClient

LISTENER_SECONDS = 2.0
"""Time for the process that listens to appear among those of a server, which may have just forked."""
_LISTENING = "0A"
"""State of a listening socket in /proc/net/tcp."""
NETWORK_TRIES = 20
"""Subnets are chosen at random; the engine refuses one that overlaps another."""


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Return different TCP ports of ``host`` that are free now.

    If ``host`` is no address of this machine, such as a future container's, any port is free there.
    """
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            try:
                one.bind((host, 0))
            except OSError as error:
                if error.errno != errno.EADDRNOTAVAIL:
                    raise
                one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in held]
    finally:
        for one in held:
            one.close()


def check_free(address: str) -> None:
    """Raise TrialFailed if another process listens on ``host:port``."""
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except (OSError, ValueError, OverflowError) as error:
            if isinstance(error, OSError) and error.errno == errno.EADDRNOTAVAIL:
                return
            raise TrialFailed(
                f"Cannot listen on {address}: {error}.",
                "Stop the process that uses it, or remove the address from the arm to use a free port.",
            ) from error


def make(engine: DockerClient, name: str, label: str) -> tuple[Any, str]:
    """Create a network for one trial; return it with the server's address.

    Clients on this machine reach the address over the network's bridge, without a published port, a proxy or address
    translation. Raise TrialFailed if the engine refuses.
    """
    import docker

    why = ""
    for _ in range(NETWORK_TRIES):
        base = f"10.{random.randint(192, 254)}.{random.randint(0, 255)}.{8 * random.randint(0, 31)}"
        first, last = base.rsplit(".", 1)
        pool = docker.types.IPAMPool(subnet=f"{base}/29", gateway=f"{first}.{int(last) + 1}")
        try:
            made = engine.networks.create(
                name, driver="bridge", ipam=docker.types.IPAMConfig(pool_configs=[pool]), labels={label: name}
            )
        except docker.errors.APIError as error:
            why = str(error.explanation or error)
            if "overlap" in why.lower():
                continue
            break
        return made, f"{first}.{int(last) + 2}"
    raise TrialFailed(
        f"The Docker engine cannot make a private network: {why.rstrip('.')}.",
        'Use the network of the machine: network = "host".',
    )


def place(engine: DockerClient, network: Any, address: str | None) -> dict[str, Any]:
    """Return the options that create a container in the network, at ``address`` or at any free address."""
    config = engine.api.create_endpoint_config(ipv4_address=address) if address else None
    return {"network": network.name, **({"networking_config": {network.name: config}} if config else {})}


def require_reason(system: System, addresses: list[str]) -> None:
    """Raise TrialFailed if a system listens beyond loopback and its declaration does not say why."""
    if addresses and system.listens_beyond is None:
        raise TrialFailed(
            f"{system.name} listens on {', '.join(addresses)}, which other machines can reach.",
            f"Make it listen on loopback only. If it cannot, give the reason as listens_beyond in systems/{system.name}"
            ".toml.",
        )


def beyond_loopback(pids: Iterable[int], host: str) -> list[str]:
    """Return the addresses on which these processes listen, except loopback and ``host``.

    Processes that this user may not inspect are skipped.
    """
    import psutil

    found: dict[str, None] = {}
    for pid in pids:
        try:
            sockets = psutil.Process(pid).net_connections(kind="tcp")
        except (psutil.Error, OSError):
            continue
        for one in sockets:
            if one.status == psutil.CONN_LISTEN and not _inside(one.laddr.ip, host):
                found[f"{one.laddr.ip}:{one.laddr.port}"] = None
    return list(found)


def require_measured(name: str, url: str, processes: Callable[[], list[int]]) -> None:
    """Raise TrialFailed if another process than those of the server listens on its address: telemetry would miss it.

    What cannot be known is accepted: other systems than Linux, and processes that this user may not inspect.
    """
    port = urlsplit(url).port
    if port is None or sys.platform != "linux":
        return
    if not until(lambda: _listens(processes(), port), LISTENER_SECONDS, pause=0.05):
        raise TrialFailed(
            f"A process that {name} did not start, or that left it, listens on port {port}{_who(port)}. Its use of "
            "processor and memory would not be measured.",
            "Give a program that is the server itself and stays in the foreground: --system NAME=PATH.",
        )


def instance(url: str, pids: list[int]) -> tuple[str, ...]:
    """Return what identifies a running server until it is started again: its listening sockets, and its first process.

    A supervisor that starts a server again stays; the new server listens on a new socket.
    """
    port = urlsplit(url).port
    first = pids[:1]
    sockets = [inode for pid in first for inode in _inodes(pid, port)] if port is not None else []
    return tuple(sorted({*sockets, *(f"{pid}:{identity(pid)}" for pid in first)}))


def _listens(pids: list[int], port: int) -> bool:
    """Return whether one of these processes or their descendants listens on a port, or that cannot be known."""
    wanted = {f"socket:[{inode}]" for inode in _inodes(pids[0] if pids else os.getpid(), port)}
    if not wanted:
        return True
    for pid in {one for root in pids for one in tree(root)}:
        try:
            if wanted & _open(pid):
                return True
        except PermissionError:
            return True
        except OSError:  # it has ended
            continue
    return False


def _inodes(pid: int, port: int) -> list[str]:
    """Return the listening sockets of a port in the network of a process."""
    found = []
    for kind in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/net/{kind}").read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                    found.append(fields[9])
    return found


def _open(pid: int) -> set[str]:
    folder = f"/proc/{pid}/fd"
    found = set()
    for name in os.listdir(folder):  # noqa: PTH208 - thousands of files
        with contextlib.suppress(FileNotFoundError):
            found.add(os.readlink(f"{folder}/{name}"))  # noqa: PTH115
    return found


def _who(port: int) -> str:
    """Name the process that listens on a port of this machine, if this user may see it."""
    wanted = {f"socket:[{inode}]" for inode in _inodes(os.getpid(), port)}
    for name in os.listdir("/proc"):  # noqa: PTH208
        with contextlib.suppress(OSError):
            if name.isdecimal() and wanted & _open(int(name)):
                return f": {Path('/proc', name, 'comm').read_text(errors='replace').strip()!r} (pid {name})"
    return ""


def _inside(address: str, host: str) -> bool:
    at = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(at, "ipv4_mapped", None)
    return (mapped or at).is_loopback or address == host
