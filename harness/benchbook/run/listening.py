"""Where a system listens: on loopback only, unless it was told otherwise."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from benchbook.declare.system import System
from benchbook.errors import TrialFailed

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
