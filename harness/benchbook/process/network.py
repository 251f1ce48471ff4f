"""TCP ports, the private network of one trial, and the addresses on which a system listens."""

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


def _inside(address: str, host: str) -> bool:
    at = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(at, "ipv4_mapped", None)
    return (mapped or at).is_loopback or address == host
