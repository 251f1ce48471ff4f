"""Free TCP ports, a private network for one trial, and a check of where a system listens."""

from __future__ import annotations

import errno
import ipaddress
import random
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from benchbook.declare.system import System
from benchbook.errors import TrialFailed

if TYPE_CHECKING:
    from docker import DockerClient


# TCP ports of this machine: free ones, and whether one is free.


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Return TCP ports of ``host`` that nobody listens on now, all different.

    On an address that is not this machine's, as that of a container to come, every port is free.
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
    """Raise TrialFailed when ``host:port`` cannot be listened on, because somebody else does."""
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except (OSError, ValueError, OverflowError) as error:
            if isinstance(error, OSError) and error.errno == errno.EADDRNOTAVAIL:
                return
            raise TrialFailed(
                f"{address} cannot be listened on: {error}.",
                "Stop what uses that port, or take the address out of the arm: a free port is then chosen.",
            ) from error


# A network of a trial's own, in which its server has an address that is known before it starts.
#
# Clients on this machine reach that address over the network's bridge: no port is published, and no proxy or
# address translation stands between client and server.

TRIES = 20
"""Networks are chosen at random; one that overlaps another is refused by the engine."""


def make(engine: DockerClient, name: str, label: str) -> tuple[Any, str]:
    """Make a network and return it with the address that the server gets; raise TrialFailed where none can be."""
    import docker

    why = ""
    for _ in range(TRIES):
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
        f"The engine makes no private network: {why.rstrip('.')}.",
        "Give the system the network of the machine: network = host.",
    )


def place(engine: DockerClient, network: Any, address: str | None) -> dict[str, Any]:
    """Return how a container is created in the network: at the address, or at any other."""
    config = engine.api.create_endpoint_config(ipv4_address=address) if address else None
    return {"network": network.name, **({"networking_config": {network.name: config}} if config else {})}


# Where a system listens: on loopback only, unless it was told otherwise.

CHECK = "addresses beyond loopback"
"""The name of the check that holds how many there are."""


def require_reason(system: System, open_to_others: list[str]) -> None:
    """Raise TrialFailed where a system is open to other machines and does not declare why that cannot be helped."""
    if open_to_others and system.listens_beyond is None:
        raise TrialFailed(
            f"{system.name} listens on {', '.join(open_to_others)}, which other machines reach.",
            f"Have it listen on loopback alone, or say by listens_beyond in systems/{system.name}.toml why it cannot.",
        )


def beyond(pids: Iterable[int], host: str) -> list[str]:
    """Return the addresses that these processes listen on and that are neither loopback nor ``host``.

    What may not be looked at is not among them.
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


def _inside(address: str, host: str) -> bool:
    at = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(at, "ipv4_mapped", None)
    return (mapped or at).is_loopback or address == host
